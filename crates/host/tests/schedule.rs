//! Launch times and software gates against a schedule computed by hand.

use tsn_host::{DropCause, Etf, HostTime, Schedule, SocketOptions, SoftwareGates};
use tsn_plan::{GateEntry, Taprio, TaprioMode};
use tsn_units::Duration;

fn us(us: i64) -> Duration {
    Duration::from_ns(us * 1_000)
}

fn at(time: i64) -> HostTime {
    HostTime::from_ns(time * 1_000)
}

/// Class 0 for 300 us, class 1 for 300 us, class 0 for 400 us, from 5 ms on.
fn taprio(delay_us: u64) -> Taprio {
    let entry = |open, us: u64| GateEntry { open, interval_ns: us * 1_000, ..GateEntry::default() };
    Taprio {
        mode: TaprioMode::TxtimeAssist,
        txtime_delay_ns: delay_us * 1_000,
        base_time_ns: 5_000_000,
        cycle_ns: 1_000_000,
        entries: vec![entry(1, 300), entry(2, 300), entry(1, 400)],
    }
}

#[test]
fn launches_follow_each_other_and_go_over_into_the_next_window() {
    let mut schedule = Schedule::new(&taprio(100));
    // All frames arrive at 5.25 ms: from 5.35 ms on they are in class 1's window, 100 us each.
    let launches: Vec<_> = (0..5).map(|_| schedule.launch(at(5_250), 1, us(100))).collect();
    assert_eq!(launches, [5_350, 5_450, 6_300, 6_400, 6_500].map(|time| Some(at(time))));
    // Each entry has its own queue: a frame of the other class does not wait, and uses the remaining time of
    // its two entries.
    assert_eq!(schedule.launch(at(5_250), 0, us(100)), Some(at(5_600)));
    assert_eq!(schedule.launch(at(5_810), 0, us(100)), Some(at(6_000)), "910 to 1010 does not fit");
    assert_eq!(schedule.launch(at(5_790), 0, us(100)), Some(at(5_890)));
}

#[test]
fn before_the_base_time_all_gates_are_open_and_what_fits_nowhere_has_no_launch() {
    let mut schedule = Schedule::new(&taprio(100));
    assert_eq!(schedule.launch(at(10), 1, us(1)), Some(at(110)));
    assert_eq!(schedule.launch(at(10), 7, us(1)), Some(at(110)));
    assert_eq!(schedule.launch(at(6_000), 7, us(1)), None);
    assert_eq!(schedule.launch(at(6_000), 1, us(301)), None);
    assert!(schedule.admits(at(6_300), 1, us(300)) && !schedule.admits(at(6_301), 1, us(300)));
}

#[test]
fn software_gates_count_a_budget_and_join_windows_around_the_cycle() {
    // 100 octets per us.
    let mut gates = SoftwareGates::new(&taprio(0), 2, Duration::from_ps(10_000));
    assert_eq!(gates.opens(at(6_000), 1, 1_000), Some(at(6_300)));
    for _ in 0..30 {
        assert_eq!(gates.opens(at(6_300), 1, 1_000), Some(at(6_300)));
        gates.spend(at(6_300), 1, 1_000);
    }
    assert_eq!(gates.opens(at(6_300), 1, 1_000), Some(at(7_300)), "the window's octets are spent");
    // Class 0 is open from 600 to 1300 us: one window of 700 us.
    assert_eq!(gates.opens(at(6_950), 0, 10_000), Some(at(6_950)));
    assert_eq!(gates.opens(at(6_950), 0, 70_001), None);
}

#[test]
fn etf_takes_frames_in_the_order_of_their_times_and_none_behind_one_that_is_gone() {
    let mut etf = Etf::new(us(50), false, false);
    let socket = Some(SocketOptions { txtime: true, deadline: false, other_clock: false });
    for (time, name) in [(300, 'c'), (100, 'a'), (200, 'b'), (100, 'A')] {
        assert_eq!(etf.enqueue(at(0), Some(at(time)), socket, name), Ok(()));
    }
    assert_eq!(etf.wake(), Some(at(50)));
    assert_eq!(etf.dequeue(at(49)), None);
    assert_eq!(etf.dequeue(at(50)), Some(Ok(('a', at(100)))));
    assert_eq!(etf.dequeue(at(100)), Some(Ok(('A', at(100)))));
    assert_eq!(etf.dequeue(at(100)), None);
    assert_eq!(etf.dequeue(at(201)), Some(Err('b')), "expired");
    assert_eq!(etf.dequeue(at(250)), Some(Ok(('c', at(300)))));
    assert_eq!(etf.enqueue(at(260), Some(at(299)), socket, 'd'), Err(('d', DropCause::Late)));
    assert_eq!(etf.enqueue(at(260), None, socket, 'e'), Err(('e', DropCause::Late)));
    assert_eq!(etf.enqueue(at(260), Some(at(400)), None, 'f'), Err(('f', DropCause::Socket)));
    assert!(etf.is_empty());
}

#[test]
fn a_window_in_software_goes_over_the_end_of_a_cycle() {
    // Class 0 is open from 600 us over the cycle's end until 300 us; an octet takes 8 ns.
    let octet = Duration::from_ns(8);
    let gates = SoftwareGates::new(&Taprio { mode: TaprioMode::Software, ..taprio(0) }, 2, octet);
    for (from, opens) in
        [(6_650, 6_650), (6_990, 6_990), (7_050, 7_050), (7_280, 7_280), (7_295, 7_600), (7_400, 7_600)]
    {
        assert_eq!(gates.opens(at(from), 0, 1_500), Some(at(opens)), "{from}");
    }
    // The 700 us are one budget, in whichever cycle it is used: 87,500 octets.
    for (first, second) in [(6_650, 6_990), (6_990, 7_050), (7_010, 7_200)] {
        let mut gates = gates.clone();
        gates.spend(at(first), 0, 50_000);
        gates.spend(at(second), 0, 37_000);
        assert_eq!(gates.opens(at(second), 0, 500), Some(at(second)));
        assert_eq!(gates.opens(at(second), 0, 501), Some(at(7_600)));
    }
}
