//! One reading of a host's clocks, as a line of JSON.

use super::client::{Client, NoAnswer};
use super::data_sets::{Current, Default, Parent, Port, PortProperties, TimeProperties, TimeStatus};
use crate::system::clock::{Clock, now_ns, tai_ahead_ns, utc_ns};
use crate::system::phc::PhcOffset;
use crate::system::socket::Socket;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// Most ports of a clock that are requested; more than any machine has.
const MOST_PORTS: u16 = 64;
const SECOND_NS: i64 = 1_000_000_000;

/// All clocks at one moment.
#[derive(Serialize)]
pub struct Reading {
    /// The time of the reading, on TAI.
    tai_ns: i64,
    #[serde(flatten)]
    ptp: Ptp,
    phc: BTreeMap<String, Phc>,
    /// TAI minus UTC in the kernel.
    tai_minus_utc_s: i64,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Ptp {
    Answered(Box<Status>),
    Failed { error: String },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Phc {
    Read { offset_ns: i64, uncertainty_ns: i64 },
    Failed { error: String },
}

/// The data sets of ptp4l.
#[derive(Serialize)]
struct Status {
    master_offset_ns: i64,
    ingress_time_ns: Option<i64>,
    /// Time since the last Sync, on the clock that made its timestamp.
    age_ns: Option<i64>,
    gm_present: bool,
    gm_identity: String,
    parent: String,
    clock_identity: String,
    port_state: String,
    steps_removed: u16,
    utc_offset_s: Option<i16>,
    ptp_timescale: bool,
    ports: Vec<PortStatus>,
}

#[derive(Serialize)]
struct PortStatus {
    port: u16,
    state: String,
    interface: Option<String>,
    stamps: Option<&'static str>,
    mean_link_delay_ns: i64,
    log_sync_interval: i8,
}

impl Reading {
    /// Takes one reading.
    ///
    /// # Errors
    /// When the system's own clocks cannot be read.
    pub fn take(client: &mut Client, phcs: &[PathBuf]) -> io::Result<Self> {
        let ptp = match status(client) {
            Ok(status) => Ptp::Answered(Box::new(status)),
            Err(error) => {
                client.forget();
                Ptp::Failed { error: error.to_string() }
            }
        };
        let tai_ns = now_ns()?;
        let read = |device: &PathBuf| match PhcOffset::of(device) {
            Ok(PhcOffset { offset_ns, uncertainty_ns }) => Phc::Read { offset_ns, uncertainty_ns },
            Err(error) => Phc::Failed { error: error.to_string() },
        };
        let phc = phcs.iter().map(|device| (device.display().to_string(), read(device))).collect();
        Ok(Self { tai_ns, ptp, phc, tai_minus_utc_s: tai_ahead_ns()? / SECOND_NS })
    }
}

fn status(client: &mut Client) -> Result<Status, NoAnswer> {
    let default: Default = client.get(None)?;
    let mut ports = Vec::new();
    for number in 1..=default.ports.min(MOST_PORTS) {
        let port: Port = client.get(Some(number))?;
        // linuxptp before version 3 does not support it.
        let properties = match client.get::<PortProperties>(Some(number)) {
            Ok(properties) => Some(properties),
            Err(NoAnswer::Refused { .. }) => None,
            Err(error) => return Err(error),
        };
        ports.push((port, properties));
    }
    let parent: Parent = client.get(None)?;
    let current: Current = client.get(None)?;
    let properties: TimeProperties = client.get(None)?;
    let time: TimeStatus = client.get(None)?;
    let leading = ports.iter().min_by_key(|(port, _)| port.state.rank());
    let now = leading.and_then(|(_, properties)| stamping_clock_ns(properties.as_ref()?));
    let age_ns = time.ingress_time_ns.zip(now).map(|(ingress, now)| now.saturating_sub(ingress));
    Ok(Status {
        master_offset_ns: time.master_offset_ns,
        ingress_time_ns: time.ingress_time_ns,
        age_ns,
        gm_present: time.gm_present,
        gm_identity: parent.grandmaster.to_string(),
        parent: parent.parent.to_string(),
        clock_identity: default.identity.to_string(),
        port_state: leading.map_or_else(String::new, |(port, _)| port.state.name()),
        steps_removed: current.steps_removed,
        utc_offset_s: properties.utc_offset_s,
        ptp_timescale: properties.ptp_timescale,
        ports: ports.into_iter().map(|(port, properties)| PortStatus::new(port, properties)).collect(),
    })
}

impl PortStatus {
    fn new(port: Port, properties: Option<PortProperties>) -> Self {
        let stamps = |found: &PortProperties| if found.software_stamps { "software" } else { "hardware" };
        Self {
            port: port.identity.port,
            state: port.state.name(),
            stamps: properties.as_ref().map(stamps),
            interface: properties.map(|found| found.interface),
            mean_link_delay_ns: port.mean_link_delay_ns,
            log_sync_interval: port.log_sync_interval,
        }
    }
}

/// The time of the clock that makes a port's timestamps; none if it cannot be read.
fn stamping_clock_ns(port: &PortProperties) -> Option<i64> {
    if port.software_stamps {
        return utc_ns().ok();
    }
    let phc = Socket::unbound().ok()?.stamps_of(&port.interface).ok()?.phc?;
    Clock::hardware(format!("/dev/ptp{phc}").as_ref()).ok()?.now_ns().ok()
}
