//! The data sets that show how well a clock is synchronised. IEEE 1588-2019, 15.5.3; those of linuxptp: `tlv.h`,
//! `pmc(8)`.
//!
//! Each data set is read from the octets after its `managementId`; additional octets are those of a later edition.

use super::identity::{ClockIdentity, PortIdentity};
use super::message::ManagementId;
use super::octets::Octets;

/// A data set that can be requested.
pub trait DataSet: Sized {
    /// The number of the data set.
    const ID: ManagementId;

    /// Reads the data set; none if octets are missing.
    fn read(octets: &[u8]) -> Option<Self>;
}

/// `DEFAULT_DATA_SET`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Default {
    /// `numberPorts`.
    pub ports: u16,
    /// `clockIdentity`.
    pub identity: ClockIdentity,
}

impl DataSet for Default {
    const ID: ManagementId = ManagementId(0x2000);

    fn read(octets: &[u8]) -> Option<Self> {
        let mut octets = Octets::new(octets);
        octets.skip(2)?;
        let ports = octets.u16()?;
        // Priorities and quality of the clock.
        octets.skip(6)?;
        Some(Self { ports, identity: ClockIdentity::read(&mut octets)? })
    }
}

/// `CURRENT_DATA_SET`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Current {
    /// `stepsRemoved`.
    pub steps_removed: u16,
}

impl DataSet for Current {
    const ID: ManagementId = ManagementId(0x2001);

    fn read(octets: &[u8]) -> Option<Self> {
        let mut octets = Octets::new(octets);
        let steps_removed = octets.u16()?;
        // These octets are offsetFromMaster and meanDelay.
        octets.skip(16)?;
        Some(Self { steps_removed })
    }
}

/// `PARENT_DATA_SET`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Parent {
    /// `parentPortIdentity`.
    pub parent: PortIdentity,
    /// `grandmasterIdentity`.
    pub grandmaster: ClockIdentity,
}

impl DataSet for Parent {
    const ID: ManagementId = ManagementId(0x2002);

    fn read(octets: &[u8]) -> Option<Self> {
        let mut octets = Octets::new(octets);
        let parent = PortIdentity::read(&mut octets)?;
        // Statistics of the parent, priorities and quality of the grandmaster.
        octets.skip(14)?;
        Some(Self { parent, grandmaster: ClockIdentity::read(&mut octets)? })
    }
}

/// `TIME_PROPERTIES_DATA_SET`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TimeProperties {
    /// `currentUtcOffset` in s, if it is valid.
    pub utc_offset_s: Option<i16>,
    /// Whether the domain's time is TAI: `ptpTimescale`.
    pub ptp_timescale: bool,
}

impl DataSet for TimeProperties {
    const ID: ManagementId = ManagementId(0x2003);

    fn read(octets: &[u8]) -> Option<Self> {
        let mut octets = Octets::new(octets);
        let offset = octets.i16()?;
        let flags = octets.u8()?;
        octets.skip(1)?;
        Some(Self { utc_offset_s: (flags & 4 != 0).then_some(offset), ptp_timescale: flags & 8 != 0 })
    }
}

/// `PORT_DATA_SET`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// `portIdentity`.
    pub identity: PortIdentity,
    /// `portState`.
    pub state: PortState,
    /// `meanLinkDelay` in ns.
    pub mean_link_delay_ns: i64,
    /// `logSyncInterval`.
    pub log_sync_interval: i8,
}

impl DataSet for Port {
    const ID: ManagementId = ManagementId(0x2004);

    fn read(octets: &[u8]) -> Option<Self> {
        let mut octets = Octets::new(octets);
        let identity = PortIdentity::read(&mut octets)?;
        let state = PortState(octets.u8()?);
        octets.skip(1)?;
        // A TimeInterval: 2^-16 ns.
        let mean_link_delay_ns = octets.i64()? >> 16;
        octets.skip(2)?;
        let log_sync_interval = octets.i8()?;
        octets.skip(3)?;
        Some(Self { identity, state, mean_link_delay_ns, log_sync_interval })
    }
}

/// `TIME_STATUS_NP` of linuxptp.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TimeStatus {
    /// The clock minus its master, at the last Sync.
    pub master_offset_ns: i64,
    /// When the last Sync arrived, on the clock that makes the timestamps; none before the first Sync.
    pub ingress_time_ns: Option<i64>,
    /// Whether the grandmaster is another clock (`gmPresent`).
    pub gm_present: bool,
}

impl DataSet for TimeStatus {
    const ID: ManagementId = ManagementId(0xc000);

    fn read(octets: &[u8]) -> Option<Self> {
        let mut octets = Octets::new(octets);
        let master_offset_ns = octets.i64()?;
        let ingress = octets.i64()?;
        // These octets are rates and phases of the grandmaster, which only gPTP's Follow_Up carries.
        octets.skip(22)?;
        let gm_present = octets.i32()? != 0;
        octets.skip(8)?;
        Some(Self { master_offset_ns, ingress_time_ns: (ingress != 0).then_some(ingress), gm_present })
    }
}

/// `PORT_PROPERTIES_NP` of linuxptp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortProperties {
    /// Whether the kernel makes the timestamps, on `CLOCK_REALTIME`, instead of the hardware.
    pub software_stamps: bool,
    /// The port's interface.
    pub interface: String,
}

impl DataSet for PortProperties {
    const ID: ManagementId = ManagementId(0xc004);

    fn read(octets: &[u8]) -> Option<Self> {
        let mut octets = Octets::new(octets);
        // Identity and state.
        octets.skip(11)?;
        let software_stamps = octets.u8()? == 0;
        let length = usize::from(octets.u8()?);
        let interface = std::str::from_utf8(octets.rest().get(..length)?).ok()?;
        Some(Self { software_stamps, interface: interface.to_owned() })
    }
}

/// `portState`. IEEE 1588-2019, 8.2.15.3.1.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PortState(pub u8);

impl PortState {
    /// The name in the standard.
    pub fn name(self) -> String {
        let names = [
            "INITIALIZING",
            "FAULTY",
            "DISABLED",
            "LISTENING",
            "PRE_MASTER",
            "MASTER",
            "PASSIVE",
            "UNCALIBRATED",
            "SLAVE",
            "GRAND_MASTER",
        ];
        let number = usize::from(self.0);
        number
            .checked_sub(1)
            .and_then(|place| names.get(place))
            .map_or_else(|| number.to_string(), |name| (*name).to_owned())
    }

    /// The rank of a port among the ports of a clock: the port that follows comes first, ports that lead come last.
    pub fn rank(self) -> u8 {
        match self.0 {
            9 => 0,
            8 => 1,
            1 | 2 | 4 => 2,
            5 | 6 | 10 => 3,
            _ => 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::message::Response;
    use crate::sync::samples::{SAMPLES, octets};

    /// A data set out of the recorded answers of ptp4l.
    fn sample<T: DataSet>() -> Option<T> {
        let (_, _, text) = SAMPLES.iter().find(|(id, _, _)| *id == T::ID.0)?;
        T::read(Response::parse(&octets(text))?.data.ok()?)
    }

    #[test]
    fn what_ptp4l_said_is_what_pmc_shows() {
        let status = sample::<TimeStatus>().unwrap();
        let expected = TimeStatus {
            master_offset_ns: 586,
            ingress_time_ns: Some(1_795_366_919_725_000_821),
            gm_present: true,
        };
        assert_eq!(status, expected);
        let port = sample::<Port>().unwrap();
        assert_eq!(port.identity.to_string(), "4ec0d7.fffe.201b22-1");
        assert_eq!(
            (port.state.name().as_str(), port.mean_link_delay_ns, port.log_sync_interval),
            ("UNCALIBRATED", 1527, -3)
        );
        let parent = sample::<Parent>().unwrap();
        assert_eq!(parent.parent.to_string(), "3eb904.fffe.fcd59d-1");
        assert_eq!(parent.grandmaster.to_string(), "3eb904.fffe.fcd59d");
        assert_eq!(sample::<Current>(), Some(Current { steps_removed: 1 }));
        assert_eq!(
            sample::<TimeProperties>(),
            Some(TimeProperties { utc_offset_s: None, ptp_timescale: false })
        );
        let default = sample::<Default>().unwrap();
        assert_eq!((default.ports, default.identity.to_string().as_str()), (1, "4ec0d7.fffe.201b22"));
        let properties = sample::<PortProperties>().unwrap();
        assert_eq!((properties.software_stamps, properties.interface.as_str()), (true, "v1"));
    }

    #[test]
    fn signs_and_flags() {
        let time = |offset: &str| {
            TimeStatus::read(&octets(&format!(
                "{offset} 0000000000000000 {} 00000000 0102030405060708",
                "00".repeat(22)
            )))
        };
        let of = |offset_ns| {
            Some(TimeStatus { master_offset_ns: offset_ns, ingress_time_ns: None, gm_present: false })
        };
        assert_eq!(time("ffffffffffffffff"), of(-1));
        assert_eq!(time("8000000000000000"), of(i64::MIN));
        assert_eq!(time("00000000000003e8"), of(1000));
        let properties = |text: &str| TimeProperties::read(&octets(text));
        let of = |utc_offset_s, ptp_timescale| Some(TimeProperties { utc_offset_s, ptp_timescale });
        assert_eq!(properties("0025 0c a0"), of(Some(37), true));
        assert_eq!(properties("fffe 04 a0"), of(Some(-2), false));
        assert_eq!(properties("0025 08 a0"), of(None, true));
        let states: Vec<_> = (0..12).map(|number| PortState(number).name()).collect();
        assert_eq!((states[0].as_str(), states[9].as_str(), states[11].as_str()), ("0", "SLAVE", "11"));
    }

    fn whole<T: DataSet + PartialEq + std::fmt::Debug>(padding: usize) {
        let (_, _, text) = SAMPLES.iter().find(|(id, _, _)| *id == T::ID.0).unwrap();
        let octets = octets(text);
        let data = Response::parse(&octets).unwrap().data.unwrap();
        for length in 0..data.len() - padding {
            assert_eq!(T::read(&data[..length]), None, "{:?} {length}", T::ID);
        }
        let longer = [data, &[1, 2]].concat();
        assert_eq!(T::read(&longer), T::read(data));
    }

    #[test]
    fn what_breaks_off_is_none_and_what_follows_is_a_later_editions() {
        // Domain and a reserved octet of the default data set are not read.
        whole::<Default>(2);
        whole::<Current>(0);
        whole::<Parent>(0);
        whole::<TimeProperties>(0);
        whole::<Port>(0);
        whole::<TimeStatus>(0);
        // A text is padded to an even number of octets.
        whole::<PortProperties>(1);
    }

    #[test]
    fn any_octets_are_read_or_refused() {
        // A generator of Numerical Recipes: each run must have the same octets.
        let mut state: u32 = 1;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        for round in 0..20_000 {
            let mut octets: Vec<u8> = (0..round % 120).map(|_| next()).collect();
            // Half of the rounds begin like an answer.
            if let (0, Some(begin)) = (round % 2, octets.get_mut(..4)) {
                begin.copy_from_slice(&[0x0d, 2, 0, (round % 120) as u8]);
            }
            if let Some(action) = octets.get_mut(46..50).filter(|_| round % 4 == 0) {
                action.copy_from_slice(&[2, 0, 0, 1]);
            }
            let data = Response::parse(&octets).and_then(|found| found.data.ok()).unwrap_or(&octets);
            let _ =
                (Default::read(data), Current::read(data), Parent::read(data), TimeProperties::read(data));
            let _ = (Port::read(data), TimeStatus::read(data), PortProperties::read(data));
        }
    }
}
