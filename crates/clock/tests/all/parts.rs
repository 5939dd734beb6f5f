//! Instances and transparent clocks, one message at a time, with values computed by hand.
//!
//! IEEE 802.1AS-2020, 10.2, 10.3 and 11.2; IEEE 1588-2019, 9.3, 10 and 11.3.

use std::slice::from_ref;
use tsn_clock::{
    Announce, BestMaster, DelayMechanism, Input, Instance, KINDS, Message, Origin, Output, PiParameters,
    PiServo, PortIdentity, PriorityVector, Profile, PtpClock, RateOffset, Role, Roles, Settings, Stamp,
    SystemIdentity, Timer, TransparentClock,
};
use tsn_units::{Duration, Frequency, Instant, Octets};

fn ns(ns: i64) -> Duration {
    Duration::from_ns(ns)
}

/// The oscillator has counted `ns`, and the clock shows one second more.
fn at(ns: i64) -> Stamp {
    Stamp { free: Instant::from_ns(ns), local: Instant::from_ns(1_000_000_000 + ns) }
}

fn settings(profile: Profile, delay: DelayMechanism, roles: Roles) -> Settings {
    let servo = PiServo::new(PiParameters::default(), ns(125_000_000));
    Settings { identity: 7, ports: 3, profile, delay, one_step: false, roles, servo }
}

fn given(slave: Option<usize>, masters: &[usize]) -> Roles {
    Roles::Given { slave, masters: masters.to_vec() }
}

/// The outputs after an input.
fn handle(instance: &mut Instance, input: Input) -> Vec<Output> {
    let mut outputs = Vec::new();
    instance.handle(input, &mut outputs);
    outputs
}

fn received(instance: &mut Instance, port: usize, message: Message, ns: i64) -> Vec<Output> {
    handle(instance, Input::Received { port, message, at: at(ns) })
}

fn sent(instance: &mut Instance, port: usize, message: Message, ns: i64) -> Vec<Output> {
    handle(instance, Input::Sent { port, message, at: at(ns) })
}

fn send(port: usize, message: Message) -> Output {
    Output::Send { port, message }
}

/// A port of node 7, counted from 0.
fn own(port: usize) -> PortIdentity {
    PortIdentity::at(7, port)
}

/// The port of a neighbour, node 3.
const PARENT: PortIdentity = PortIdentity { clock: 3, port: 2 };

fn sync(source: PortIdentity, sequence: u16) -> Message {
    Message::Sync { source, sequence, origin: None }
}

fn follow_up(source: PortIdentity, sequence: u16, origin: Origin) -> Message {
    Message::FollowUp { source, sequence, origin }
}

/// One exchange over a link of 500 ns in each direction; the neighbour's oscillator has the same rate.
fn exchange(instance: &mut Instance, port: usize, start: i64) {
    let asked = handle(instance, Input::PdelayDue { port });
    let [Output::Send { message: request @ Message::PdelayReq { sequence }, .. }] = &asked[..] else {
        panic!("{asked:?}")
    };
    let sequence = *sequence;
    assert!(sent(instance, port, request.clone(), start).is_empty());
    let response = Message::PdelayResp { sequence, received: at(start + 500).free };
    assert!(received(instance, port, response, start + 1_500).is_empty());
    let follow_up = Message::PdelayRespFollowUp { sequence, sent: at(start + 1_000).free };
    assert!(received(instance, port, follow_up, start + 1_600).is_empty());
}

#[test]
fn a_request_for_a_links_delay_is_answered_and_followed_up() {
    let mut instance =
        Instance::new(settings(Profile::TimeAware, DelayMechanism::PeerToPeer, given(None, &[])));
    let response = Message::PdelayResp { sequence: 5, received: at(100).free };
    let outputs = received(&mut instance, 1, Message::PdelayReq { sequence: 5 }, 100);
    assert_eq!(outputs, [send(1, response.clone())]);
    let outputs = sent(&mut instance, 1, response, 300);
    assert_eq!(outputs, [send(1, Message::PdelayRespFollowUp { sequence: 5, sent: at(300).free })]);
    assert_eq!(handle(&mut instance, Input::PdelayDue { port: 3 }), [], "there is no such port");
}

#[test]
fn a_grandmaster_says_when_its_sync_left() {
    let roles = given(None, &[0, 2]);
    let mut instance = Instance::new(settings(Profile::TimeAware, DelayMechanism::PeerToPeer, roles));
    assert_eq!(
        [0, 1, 2, 3].map(|port| instance.role(port)),
        [Role::Master, Role::Disabled, Role::Master, Role::Disabled]
    );
    assert_eq!(instance.grandmaster(), None, "nobody was elected");
    assert_eq!(handle(&mut instance, Input::AnnounceDue), []);
    let outputs = handle(&mut instance, Input::SyncDue);
    assert_eq!(outputs, [send(0, sync(own(0), 1)), send(2, sync(own(2), 1))]);
    let origin = Origin { time: at(40).local, ..Origin::default() };
    assert_eq!(sent(&mut instance, 2, sync(own(2), 1), 40), [send(2, follow_up(own(2), 1, origin))]);
    // Each Sync is followed up once; a Sync that was not sent is not followed up.
    assert_eq!(sent(&mut instance, 2, sync(own(2), 1), 50), []);
    assert_eq!(sent(&mut instance, 0, sync(own(0), 9), 50), []);
    let outputs = handle(&mut instance, Input::SyncDue);
    assert_eq!(outputs, [send(0, sync(own(0), 2)), send(2, sync(own(2), 2))]);
}

#[test]
fn a_one_step_sync_carries_its_own_time() {
    let mut settings = settings(Profile::Ieee1588, DelayMechanism::EndToEnd, given(None, &[0]));
    settings.one_step = true;
    let mut instance = Instance::new(settings);
    let message = Message::Sync { source: own(0), sequence: 1, origin: Some(Origin::default()) };
    assert_eq!(handle(&mut instance, Input::SyncDue), [send(0, message.clone())]);
    let origin = Origin { time: at(40).local, ..Origin::default() };
    let left = Message::Sync { source: own(0), sequence: 1, origin: Some(origin) };
    assert_eq!(instance.on_departure(message, at(40)), left);
    assert_eq!(sent(&mut instance, 0, left, 40), [], "nothing follows");
    assert_eq!(instance.on_departure(sync(own(0), 1), at(40)), sync(own(0), 1));
}

/// The grandmaster's time arrives with a Sync; a bridge forwards the time with the link's delay and its own
/// residence time.
#[test]
fn a_bridge_of_gptp_passes_time_on() {
    let roles = given(Some(0), &[1]);
    let mut instance = Instance::new(settings(Profile::TimeAware, DelayMechanism::PeerToPeer, roles));
    assert_eq!([0, 1, 2].map(|port| instance.role(port)), [Role::Slave, Role::Master, Role::Disabled]);
    assert_eq!(handle(&mut instance, Input::SyncDue), [], "it has no time of its own");
    let origin = Origin { time: at(10_000).local, correction: ns(40), ..Origin::default() };
    let tell = |instance: &mut Instance, port: usize, source: PortIdentity, sequence: u16| {
        assert_eq!(received(instance, port, sync(source, sequence), 20_540), []);
        received(instance, port, follow_up(source, sequence, origin), 21_000)
    };
    assert_eq!(tell(&mut instance, 0, PARENT, 1), [], "its link's delay is not known");
    exchange(&mut instance, 0, 1_000);
    assert_eq!(tell(&mut instance, 1, PARENT, 1), [], "that port tells time");
    assert_eq!(received(&mut instance, 0, follow_up(PARENT, 2, origin), 21_000), [], "without its Sync");
    assert_eq!(tell(&mut instance, 0, PARENT, 3), [send(1, sync(own(1), 3))]);
    // 40 ns, 500 ns of the link, and 30,000 - 20,540 ns in the bridge.
    let forwarded = Origin { time: origin.time, correction: ns(40 + 500 + 9_460), ..Origin::default() };
    assert_eq!(sent(&mut instance, 1, sync(own(1), 3), 30_000), [send(1, follow_up(own(1), 3, forwarded))]);
    // A Follow_Up at another port is ignored, and the Sync still waits for its own.
    assert_eq!(received(&mut instance, 0, sync(PARENT, 4), 20_540), []);
    assert_eq!(received(&mut instance, 1, follow_up(PARENT, 4, origin), 21_000), []);
    assert_eq!(received(&mut instance, 0, follow_up(PARENT, 4, origin), 21_100), [send(1, sync(own(1), 4))]);
    // A Sync with an older number does not give the time of this one.
    let _ = tell(&mut instance, 0, PARENT, 4);
    assert_eq!(sent(&mut instance, 1, sync(own(1), 3), 30_000), []);
}

/// A gPTP bridge writes the values of the forwarded Sync into that Sync, and of no other one.
#[test]
fn a_one_step_bridge_writes_what_it_knows_of_that_sync() {
    let mut settings = settings(Profile::TimeAware, DelayMechanism::PeerToPeer, given(Some(0), &[1]));
    settings.one_step = true;
    let mut instance = Instance::new(settings);
    exchange(&mut instance, 0, 1_000);
    let origin = Origin { time: at(10_000).local, correction: ns(40), ..Origin::default() };
    let message = |source, sequence, origin| Message::Sync { source, sequence, origin: Some(origin) };
    let outputs = received(&mut instance, 0, message(PARENT, 4, origin), 20_540);
    let empty = Origin::default();
    assert_eq!(outputs, [send(1, message(own(1), 4, empty))]);
    let forwarded = Origin { time: origin.time, correction: ns(40 + 500 + 9_460), ..empty };
    assert_eq!(instance.on_departure(message(own(1), 4, empty), at(30_000)), message(own(1), 4, forwarded));
    assert_eq!(instance.on_departure(message(own(1), 3, empty), at(30_000)), message(own(1), 3, empty));
}

/// The servo's second sample steers the clock, which is 9,960 ns ahead of the grandmaster and has counted
/// 10,000 ns.
#[test]
fn a_slave_steers_its_clock() {
    let roles = given(Some(0), &[]);
    let mut instance = Instance::new(settings(Profile::TimeAware, DelayMechanism::PeerToPeer, roles));
    exchange(&mut instance, 0, 0);
    let mut corrections = Vec::new();
    for (sequence, start, ahead) in [(1, 1_000_000_000, 50_000), (2, 1_500_000_000, 50_000)] {
        // The Sync left `ahead` and the link's 500 ns before the time that the clock shows at its arrival.
        let origin = Origin { time: at(start - 500 - ahead).local, ..Origin::default() };
        assert_eq!(received(&mut instance, 0, sync(PARENT, sequence), start), []);
        corrections.extend(received(&mut instance, 0, follow_up(PARENT, sequence, origin), start + 1_000));
    }
    let [Output::Correct(correction)] = &corrections[..] else { panic!("{corrections:?}") };
    assert_eq!((correction.step, correction.frequency), (Some(ns(-50_000)), Frequency::NOMINAL));
}

/// A slave requests the delay of the path from its master: the mean of both directions.
#[test]
fn masters_answer_and_slaves_ask_end_to_end() {
    let roles = given(Some(0), &[1]);
    let mut instance = Instance::new(settings(Profile::Ieee1588, DelayMechanism::EndToEnd, roles));
    let request = |source| Message::DelayReq { source, sequence: 9 };
    assert_eq!(handle(&mut instance, Input::PdelayDue { port: 0 }), [], "no Sync has come");
    assert_eq!(received(&mut instance, 0, request(PARENT), 50), [], "no master there");
    let answer = Message::DelayResp { to: PARENT, sequence: 9, received: at(50).local, correction: ns(0) };
    assert_eq!(received(&mut instance, 1, request(PARENT), 50), [send(1, answer)]);
    // Sync: 500 ns away; request: 900 ns back. The clock is 50,000 ns ahead of its master.
    let master = |ns: i64| at(ns - 50_000).local;
    let mut corrections = Vec::new();
    for (sequence, start) in [(1, 1_000_000_000), (2, 1_500_000_000), (3, 2_000_000_000)] {
        let origin = Origin { time: master(start - 500), ..Origin::default() };
        let _ = received(&mut instance, 0, sync(PARENT, sequence), start);
        corrections.extend(received(&mut instance, 0, follow_up(PARENT, sequence, origin), start + 10));
        let asked = handle(&mut instance, Input::PdelayDue { port: 0 });
        let request = Message::DelayReq { source: own(0), sequence };
        assert_eq!(asked, [send(0, request.clone())]);
        assert_eq!(sent(&mut instance, 0, request, start + 100_000), []);
        let (there, correction) = (master(start + 100_000 + 900), ns(0));
        let response =
            |to, ahead: i64| Message::DelayResp { to, sequence, received: there + ns(ahead), correction };
        assert_eq!(received(&mut instance, 0, response(own(1), 7_000), start + 200_000), [], "another's");
        assert_eq!(received(&mut instance, 0, response(own(0), 0), start + 200_000), []);
    }
    // The first Sync arrives before any delay is known. The mean of 500 and 900 is 700: 200 ns too early.
    let [Output::Correct(correction)] = &corrections[..] else { panic!("{corrections:?}") };
    assert_eq!(correction.step, Some(ns(-50_000 + 200)));
    // A boundary clock sends its own time.
    assert_eq!(handle(&mut instance, Input::SyncDue), [send(1, sync(own(1), 1))]);
    assert_eq!(handle(&mut instance, Input::PdelayDue { port: 1 }), [], "only slaves ask");
}

fn identity(priority1: u8, identity: u32) -> SystemIdentity {
    SystemIdentity { priority1, class: 248, accuracy: 0xfe, variance: 0x436a, priority2: 248, identity }
}

/// The Announce of node `sender`: a root, and its distance from the root.
fn announce(root: SystemIdentity, steps_removed: u16, sender: u32) -> Announce {
    let source = PortIdentity { clock: sender, port: 1 };
    Announce { vector: PriorityVector { root, steps_removed, source }, path: vec![root.identity, sender] }
}

fn elected(priority1: u8) -> Instance {
    let roles = Roles::Elected {
        own: identity(priority1, 7),
        ports: vec![0, 1],
        announce_timeout: ns(3_000),
        sync_timeout: Some(ns(400)),
    };
    Instance::new(settings(Profile::TimeAware, DelayMechanism::PeerToPeer, roles))
}

fn message(announce: &Announce) -> Message {
    Message::Announce(Box::new(announce.clone()))
}

fn timers(outputs: &[Output]) -> Vec<(Timer, Duration)> {
    let started = |output: &Output| match output {
        Output::StartTimer { timer, after } => Some((*timer, *after)),
        _ => None,
    };
    outputs.iter().filter_map(started).collect()
}

fn sends(outputs: &[Output]) -> Vec<Output> {
    outputs.iter().filter(|output| matches!(output, Output::Send { .. })).cloned().collect()
}

#[test]
fn an_instance_that_has_heard_nothing_is_grandmaster() {
    let mut instance = elected(100);
    assert_eq!(instance.grandmaster(), Some(7));
    assert_eq!([0, 1, 2].map(|port| instance.role(port)), [Role::Master, Role::Master, Role::Disabled]);
    let own_word = |port: usize| {
        let vector = PriorityVector { root: identity(100, 7), steps_removed: 0, source: own(port) };
        send(port, message(&Announce { vector, path: vec![7] }))
    };
    assert_eq!(handle(&mut instance, Input::AnnounceDue), [own_word(0), own_word(1)]);
    assert_eq!(handle(&mut instance, Input::SyncDue), [send(0, sync(own(0), 1)), send(1, sync(own(1), 1))]);
    // An instance that may never be grandmaster sends nothing.
    let mut never = elected(255);
    assert_eq!(
        (handle(&mut never, Input::AnnounceDue), handle(&mut never, Input::SyncDue)),
        (vec![], vec![])
    );
}

#[test]
fn a_better_clock_is_followed_until_it_is_silent() {
    let mut instance = elected(100);
    let root = identity(50, 1);
    let outputs = received(&mut instance, 0, message(&announce(root, 1, 3)), 0);
    assert_eq!(
        (instance.grandmaster(), instance.role(0), instance.role(1)),
        (Some(1), Role::Slave, Role::Master)
    );
    // The instance informs the others at once: two links from the root, over node 3 and itself.
    let vector = PriorityVector { root, steps_removed: 2, source: own(1) };
    let word = send(1, message(&Announce { vector, path: vec![1, 3, 7] }));
    assert_eq!(sends(&outputs), from_ref(&word));
    let first = timers(&outputs);
    assert_eq!(first.iter().map(|(_, after)| *after).collect::<Vec<_>>(), [ns(3_000)]);
    // The same Announce again changes nothing, and restarts the first timer.
    let outputs = received(&mut instance, 0, message(&announce(root, 1, 3)), 1_000);
    assert_eq!(sends(&outputs), []);
    assert_eq!(handle(&mut instance, Input::TimerExpired(first[0].0)), []);
    assert_eq!(instance.grandmaster(), Some(1));
    assert_eq!(handle(&mut instance, Input::AnnounceDue), [word]);
    // No Announce has arrived after the second one.
    let last = timers(&outputs)[0].0;
    let outputs = handle(&mut instance, Input::TimerExpired(last));
    assert_eq!((instance.grandmaster(), instance.role(0)), (Some(7), Role::Master));
    assert_eq!(sends(&outputs).len(), 2, "both neighbours are told");
}

/// A passive port also forgets a silent neighbour, and becomes a master port again.
#[test]
fn a_passive_port_whose_neighbour_is_silent_becomes_master() {
    let mut instance = elected(100);
    let root = identity(50, 1);
    let _ = received(&mut instance, 0, message(&announce(root, 0, 3)), 0);
    let outputs = received(&mut instance, 1, message(&announce(root, 0, 4)), 0);
    assert_eq!((instance.role(0), instance.role(1)), (Role::Slave, Role::Passive));
    let _ = handle(&mut instance, Input::TimerExpired(timers(&outputs)[0].0));
    assert_eq!((instance.role(0), instance.role(1)), (Role::Slave, Role::Master));
}

/// Only Sync messages of the parent count; a port forgets a master without Sync messages.
#[test]
fn a_master_that_sends_no_sync_is_left() {
    let mut instance = elected(100);
    let root = identity(50, 1);
    let _ = received(&mut instance, 0, message(&announce(root, 0, 3)), 0);
    let parent = PortIdentity { clock: 3, port: 1 };
    assert_eq!(received(&mut instance, 0, sync(PARENT, 1), 10), [], "another port of that node");
    assert_eq!(received(&mut instance, 1, sync(parent, 1), 10), [], "another port of this one");
    let outputs = received(&mut instance, 0, sync(parent, 1), 10);
    let [(timer, after)] = timers(&outputs)[..] else { panic!("{outputs:?}") };
    assert_eq!(after, ns(400));
    let outputs = received(&mut instance, 0, sync(parent, 2), 20);
    assert_eq!(handle(&mut instance, Input::TimerExpired(timer)), [], "another one has come");
    assert_eq!(instance.grandmaster(), Some(1));
    let [(timer, _)] = timers(&outputs)[..] else { panic!("{outputs:?}") };
    let _ = handle(&mut instance, Input::TimerExpired(timer));
    assert_eq!(instance.grandmaster(), Some(7));
    // A port without a master expects no Sync: nothing changes, so nothing is sent.
    assert_eq!(handle(&mut instance, Input::TimerExpired(timer)), []);
    // The time of a former master is not forwarded.
    let mut instance = elected(100);
    exchange(&mut instance, 0, 1_000);
    let _ = received(&mut instance, 0, message(&announce(root, 0, 3)), 0);
    let _ = received(&mut instance, 0, sync(parent, 1), 20_000);
    let _ = received(&mut instance, 0, message(&announce(identity(40, 2), 0, 4)), 0);
    assert_eq!(received(&mut instance, 0, follow_up(parent, 1, Origin::default()), 21_000), []);
}

#[test]
fn the_best_of_what_was_heard_counts() {
    let mut best = BestMaster::new(identity(100, 7), 3, &[0, 1, 2]);
    let (root, worse) = (identity(50, 1), identity(60, 2));
    assert_eq!((best.slave(), best.grandmaster(), best.parent(0)), (None, identity(100, 7), None));
    assert!(
        best.receive_announce(0, &announce(worse, 0, 4)) && best.receive_announce(1, &announce(root, 3, 5))
    );
    assert!(best.select_roles() && !best.select_roles(), "nothing is different the second time");
    assert_eq!((best.slave(), best.grandmaster()), (Some(1), root));
    assert_eq!(best.parent(1), Some(PortIdentity { clock: 5, port: 1 }));
    assert_eq!([0, 1, 2].map(|port| best.role(port)), [Role::Master, Role::Slave, Role::Master]);
    // A worse Announce of another node does not replace the one that a port knows; a worse one of the same
    // node does.
    assert!(!best.receive_announce(1, &announce(worse, 0, 6)));
    assert!(best.receive_announce(1, &announce(root, 3, 5)));
    assert!(best.receive_announce(1, &announce(root, 2, 6)), "a better one of another node");
    assert!(best.receive_announce(1, &announce(worse, 1, 6)), "a worse one of the same");
    assert!(best.select_roles());
    assert_eq!((best.slave(), best.grandmaster()), (Some(0), worse), "nearer to the same root");
    best.announce_timeout(0);
    assert!(best.select_roles());
    assert_eq!(best.slave(), Some(1));
    // An Announce from a distance of 255 links is ignored; from 254 links it counts.
    assert!(
        !best.receive_announce(2, &announce(root, 255, 8))
            && best.receive_announce(2, &announce(root, 254, 8))
    );
    // Disabled or absent ports receive nothing.
    let mut best = BestMaster::new(identity(100, 7), 2, &[0]);
    assert!(
        !best.receive_announce(1, &announce(root, 0, 4)) && !best.receive_announce(2, &announce(root, 0, 4))
    );
    // A better clock than all received ones follows none; a clock that may never be grandmaster follows even
    // a worse one.
    for (priority1, slave, told) in [(40, None, true), (60, Some(0), true), (255, Some(0), true)] {
        let mut best = BestMaster::new(identity(priority1, 7), 2, &[0, 1]);
        assert!(best.receive_announce(0, &announce(root, 0, 4)));
        best.select_roles();
        assert_eq!((best.slave(), best.announce(1).is_some()), (slave, told), "{priority1}");
    }
    let worst = SystemIdentity { class: 255, ..identity(255, 9) };
    let mut best = BestMaster::new(identity(255, 7), 1, &[0]);
    assert!(best.receive_announce(0, &announce(worst, 0, 4)) && best.announce(0).is_none());
    best.select_roles();
    assert_eq!(best.slave(), Some(0));
}

/// Two paths to one root: of two ports on a link, the one farther from the root is passive; at equal
/// distance, the one with the worse identity.
#[test]
fn a_port_is_passive_where_its_neighbour_is_nearer() {
    let root = identity(50, 1);
    for (steps, sender, role) in
        [(1, 9, Role::Passive), (2, 6, Role::Passive), (2, 9, Role::Master), (3, 6, Role::Master)]
    {
        let mut best = BestMaster::new(identity(100, 7), 2, &[0, 1]);
        assert!(
            best.receive_announce(0, &announce(root, 1, 3))
                && best.receive_announce(1, &announce(root, steps, sender))
        );
        best.select_roles();
        assert_eq!((best.slave(), best.role(1)), (Some(0), role), "{steps} steps by {sender}");
    }
}

/// The residence time is added to forwarded messages: 9,460 ns here, and with peer-to-peer delays also the
/// link's 500 ns.
#[test]
fn a_transparent_clock_corrects_what_passes() {
    for (delay, link) in [(DelayMechanism::EndToEnd, 0), (DelayMechanism::PeerToPeer, 500)] {
        let mut clock = TransparentClock::new(delay, 3, &[0, 1]);
        let handle = |clock: &mut TransparentClock, input: Input| {
            let mut outputs = Vec::new();
            clock.handle(input, &mut outputs);
            outputs
        };
        let received = |port, message, ns| Input::Received { port, message, at: at(ns) };
        let left = |port, message, ns| Input::Sent { port, message, at: at(ns) };
        let asked = handle(&mut clock, Input::PdelayDue { port: 0 });
        if delay == DelayMechanism::PeerToPeer {
            assert_eq!(
                handle(&mut clock, received(0, sync(PARENT, 1), 20_540)),
                [],
                "its link's delay is not known"
            );
            let request = Message::PdelayReq { sequence: 1 };
            assert_eq!(asked, [send(0, request.clone())]);
            handle(&mut clock, left(0, request, 0));
            handle(
                &mut clock,
                received(0, Message::PdelayResp { sequence: 1, received: at(500).free }, 1_500),
            );
            handle(
                &mut clock,
                received(0, Message::PdelayRespFollowUp { sequence: 1, sent: at(1_000).free }, 1_600),
            );
            let response = Message::PdelayResp { sequence: 4, received: at(70).free };
            let answered = handle(&mut clock, received(1, Message::PdelayReq { sequence: 4 }, 70));
            assert_eq!(answered, [send(1, response.clone())]);
            let followed = handle(&mut clock, left(1, response, 90));
            assert_eq!(followed, [send(1, Message::PdelayRespFollowUp { sequence: 4, sent: at(90).free })]);
        } else {
            assert_eq!(asked, []);
        }
        let origin =
            |correction| Origin { time: at(1).local, correction: ns(correction), ..Origin::default() };
        // Two steps, in either order: the Follow_Up, and the end of the Sync's residence.
        let corrected = send(1, follow_up(PARENT, 1, origin(40 + link + 9_460)));
        assert_eq!(handle(&mut clock, received(2, sync(PARENT, 1), 20_540)), [], "that port takes no part");
        assert_eq!(handle(&mut clock, received(0, sync(PARENT, 1), 20_540)), [send(1, sync(PARENT, 1))]);
        assert_eq!(
            handle(&mut clock, received(1, follow_up(PARENT, 1, origin(7)), 21_000)),
            [],
            "another port's"
        );
        assert_eq!(handle(&mut clock, received(0, follow_up(PARENT, 1, origin(40)), 21_000)), []);
        assert_eq!(handle(&mut clock, left(1, sync(PARENT, 1), 30_000)), from_ref(&corrected));
        assert_eq!(handle(&mut clock, left(1, sync(PARENT, 1), 30_000)), [], "once");
        // A later Sync with the same identity replaces the first one.
        handle(&mut clock, received(0, sync(PARENT, 1), 40_540));
        assert_eq!(handle(&mut clock, left(1, sync(PARENT, 1), 50_000)), []);
        assert_eq!(handle(&mut clock, received(0, follow_up(PARENT, 1, origin(40)), 51_000)), [corrected]);
        // One step: the correction is written at the departure.
        let one_step =
            |correction| Message::Sync { source: PARENT, sequence: 2, origin: Some(origin(correction)) };
        assert_eq!(handle(&mut clock, received(0, one_step(40), 20_540)), [send(1, one_step(40))]);
        assert_eq!(clock.on_departure(one_step(40), at(30_000)), one_step(40 + link + 9_460));
        assert_eq!(clock.on_departure(sync(PARENT, 2), at(30_000)), sync(PARENT, 2));
        // The request of a slave at port 1 is forwarded; its response is corrected by the request's
        // residence, and is sent to that port only.
        let request = Message::DelayReq { source: PARENT, sequence: 3 };
        assert_eq!(handle(&mut clock, received(1, request.clone(), 100)), [send(0, request.clone())]);
        let answer = |to, sequence, correction| Message::DelayResp {
            to,
            sequence,
            received: at(9).local,
            correction: ns(correction),
        };
        assert_eq!(handle(&mut clock, received(0, answer(PARENT, 3, 5), 300)), [], "it is still inside");
        assert_eq!(handle(&mut clock, left(0, request, 160)), []);
        assert_eq!(handle(&mut clock, received(0, answer(PARENT, 4, 5), 300)), [], "nobody asked that");
        assert_eq!(handle(&mut clock, received(0, answer(own(0), 3, 5), 300)), []);
        assert_eq!(
            handle(&mut clock, received(0, answer(PARENT, 3, 5), 300)),
            [send(1, answer(PARENT, 3, 65))]
        );
        let word = message(&announce(identity(1, 1), 0, 3));
        assert_eq!(handle(&mut clock, received(1, word.clone(), 0)), [send(0, word)]);
    }
}

/// 64 messages may be in residence; the 65th replaces the first one.
#[test]
fn a_transparent_clock_forgets_the_oldest_of_many() {
    let mut clock = TransparentClock::new(DelayMechanism::EndToEnd, 2, &[0, 1]);
    let mut outputs = Vec::new();
    for sequence in 1..=65 {
        clock.handle(Input::Received { port: 0, message: sync(PARENT, sequence), at: at(0) }, &mut outputs);
        let message = follow_up(PARENT, sequence, Origin::default());
        clock.handle(Input::Received { port: 0, message, at: at(0) }, &mut outputs);
    }
    outputs.clear();
    for (sequence, followed) in [(1, 0), (2, 1), (65, 2)] {
        clock.handle(Input::Sent { port: 1, message: sync(PARENT, sequence), at: at(10) }, &mut outputs);
        assert_eq!(outputs.len(), followed, "Sync {sequence}");
    }
}

#[test]
fn a_machine_is_an_instance_or_a_transparent_clock() {
    let mut instance = PtpClock::Instance(Box::new(elected(100)));
    assert_eq!((instance.grandmaster(), instance.keeps_time()), (Some(7), true));
    let mut outputs = Vec::new();
    instance.handle(Input::SyncDue, &mut outputs);
    assert_eq!(outputs.len(), 2);
    assert_eq!(instance.on_departure(sync(PARENT, 1), at(0)), sync(PARENT, 1));
    let clock = TransparentClock::new(DelayMechanism::EndToEnd, 2, &[0, 1]);
    let mut clock = PtpClock::Transparent(Box::new(clock));
    assert_eq!((clock.grandmaster(), clock.keeps_time()), (None, false));
    outputs.clear();
    clock.handle(Input::Received { port: 0, message: sync(PARENT, 1), at: at(0) }, &mut outputs);
    assert_eq!(outputs.len(), 1);
}

/// Octets from destination address to FCS: 18 of Ethernet and the sum of the standards' tables, at least 64.
#[test]
fn messages_are_as_long_as_their_fields() {
    let origin = Some(Origin::default());
    let (source, sequence) = (PARENT, 1);
    let announce = |path| Announce { path: vec![0; path], ..announce(identity(1, 1), 0, 3) };
    for (message, kind, event, gptp, ieee1588) in [
        // 34 of header, 10 of time: 44. In gPTP a Follow_Up has a TLV of 32 octets, and so has a one-step
        // Sync.
        (Message::Sync { source, sequence, origin: None }, "sync", true, 64, 64),
        (Message::Sync { source, sequence, origin }, "sync", true, 94, 64),
        (follow_up(source, sequence, Origin::default()), "follow-up", false, 94, 64),
        // 34 + 20 = 54.
        (Message::PdelayReq { sequence }, "pdelay-req", true, 72, 72),
        (Message::PdelayResp { sequence, received: Instant::EPOCH }, "pdelay-resp", true, 72, 72),
        (
            Message::PdelayRespFollowUp { sequence, sent: Instant::EPOCH },
            "pdelay-resp-follow-up",
            false,
            72,
            72,
        ),
        (Message::DelayReq { source, sequence }, "delay-req", true, 64, 64),
        (
            Message::DelayResp { to: source, sequence, received: Instant::EPOCH, correction: ns(0) },
            "delay-resp",
            false,
            72,
            72,
        ),
        // 34 + 30, and a TLV of 4 with 8 for every node on the path, at most 127 nodes.
        (message(&announce(2)), "announce", false, 86 + 16, 86 + 16),
        (message(&announce(127)), "announce", false, 86 + 8 * 127, 86 + 8 * 127),
        (message(&announce(200)), "announce", false, 86 + 8 * 127, 86 + 8 * 127),
    ] {
        assert_eq!((KINDS[message.kind()], message.is_event()), (kind, event));
        assert_eq!(message.frame(Profile::TimeAware), Octets(gptp), "{kind}");
        assert_eq!(message.frame(Profile::Ieee1588), Octets(ieee1588), "{kind}");
    }
}

/// Rate offsets are carried in units of 2^-41.
#[test]
fn a_rate_offset_is_scaled() {
    // 2^-20 is 2^21 units of 2^-41, and 2^40 of 2^-60.
    assert_eq!(RateOffset::from(Frequency::from_units(1 << 40)), RateOffset(1 << 21));
    assert_eq!(Frequency::from(RateOffset(1 << 21)), Frequency::from_units(1 << 40));
    assert_eq!(RateOffset::from(Frequency::from_units((1 << 40) + (1 << 19) - 1)), RateOffset(1 << 21));
    assert_eq!(RateOffset::from(Frequency::from_ppt(-100_000_000_000)), RateOffset(i32::MIN));
    assert_eq!(PortIdentity::at(7, 2), PortIdentity { clock: 7, port: 3 });
}
