//! ATS schedulers for every flow of a plan.

use tsn_plan::{AtsGroup, AtsScheduler, Pattern, Plan, Policing, Size, StreamFilter};

/// Adds a scheduler before every hop but the first one, and a group for every port and class of arrival. The
/// rate and the burst are the least that a flow's releases need, times `more` / 4.
pub fn shape(plan: &mut Plan, more: u64) {
    shape_as(plan, [more; 2], true);
}

/// The rate and the burst are each the least one times a number / 4; `jitter`: whether the burst contains that of releases.
pub fn shape_as(plan: &mut Plan, more: [u64; 2], jitter: bool) {
    let mut tables: Vec<Policing> =
        (0..plan.nodes.len() as u32).map(|node| Policing { node, ..Policing::default() }).collect();
    let mut groups: Vec<(u32, u8, u32)> = Vec::new();
    for (number, stream) in plan.streams.iter().enumerate() {
        let Pattern::Periodic { period_ns, jitter_ns, .. } = stream.pattern else { continue };
        let bits = match &stream.size {
            Size::Frame { octets } => u64::from(octets + 20) * 8,
            Size::List { octets } => u64::from(octets.iter().max().map_or(0, |most| most + 20)) * 8,
            Size::Units { octets, most_per_frame, overhead } => {
                let unit = |unit: &u32| {
                    let (whole, rest) = (unit / most_per_frame, unit % most_per_frame);
                    let last = if rest > 0 || whole == 0 { (rest + overhead).max(64) + 20 } else { 0 };
                    u64::from(whole * (most_per_frame + overhead + 20) + last) * 8
                };
                octets.iter().map(unit).max().unwrap_or(0)
            }
        };
        let late = if jitter { (bits * jitter_ns).div_ceil(period_ns) } else { 0 };
        let cir_bps = (bits * 1_000_000_000).div_ceil(period_ns) * more[0] / 4;
        let cbs_bits = (bits + late) * more[1] / 4;
        let mut done = Vec::new();
        for hop in &stream.route {
            let Some(parent) = hop.parent else { continue };
            let ingress = plan.ports[stream.route[parent as usize].port as usize].peer;
            if done.contains(&ingress) {
                continue;
            }
            done.push(ingress);
            let node = plan.ports[ingress as usize].node;
            let class =
                plan.ports[plan.ports[ingress as usize].peer as usize].pcp_to_class[usize::from(stream.pcp)];
            let table = &mut tables[node as usize];
            let known =
                groups.iter().find(|group| (group.0, group.1) == (ingress, class)).map(|group| group.2);
            let group = known.unwrap_or_else(|| {
                groups.push((ingress, class, table.groups.len() as u32));
                table.groups.push(AtsGroup { name: "group".into(), max_residence_ns: 1_000_000_000_000 });
                table.groups.len() as u32 - 1
            });
            table.filters.push(StreamFilter {
                name: stream.name.clone(),
                ports: vec![ingress],
                streams: vec![number as u32],
                scheduler: Some(table.schedulers.len() as u32),
                ..StreamFilter::default()
            });
            table.schedulers.push(AtsScheduler { cir_bps, cbs_bits, group });
        }
    }
    plan.policing = tables.into_iter().filter(|table| !table.filters.is_empty()).collect();
}
