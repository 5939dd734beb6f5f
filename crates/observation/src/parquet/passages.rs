//! Passages as Parquet: one row per frame and port, one per mPacket of an interrupted frame, and one per frame that
//! waited for too long.

use super::table::Row;
use crate::{Expired, Fragment, Passage};

impl Row for Passage {
    const SCHEMA: &'static str = "message passages {
        REQUIRED INT64 number (INTEGER(64,true));
        OPTIONAL INT64 before (INTEGER(64,true));
        REQUIRED INT32 port (INTEGER(32,false));
        REQUIRED INT32 stream (INTEGER(32,false));
        REQUIRED INT64 seq (INTEGER(64,false));
        REQUIRED INT32 copy (INTEGER(8,false));
        REQUIRED INT32 octets (INTEGER(32,false));
        REQUIRED INT32 class (INTEGER(8,false));
        REQUIRED INT64 came_ns (INTEGER(64,true));
        OPTIONAL INT64 qdisc_ns (INTEGER(64,true));
        OPTIONAL INT64 handed_ns (INTEGER(64,true));
        OPTIONAL INT64 loaded_ns (INTEGER(64,true));
        REQUIRED INT64 queued_ns (INTEGER(64,true));
        REQUIRED INT64 eligible_ns (INTEGER(64,true));
        REQUIRED INT64 start_ns (INTEGER(64,true));
        REQUIRED INT64 end_ns (INTEGER(64,true));
        OPTIONAL INT64 arrived_ns (INTEGER(64,true));
        REQUIRED INT32 accepted (INTEGER(8,false));
        REQUIRED INT64 sent_clock_ns (INTEGER(64,true));
        OPTIONAL INT64 arrived_clock_ns (INTEGER(64,true));
    }";

    fn values(&self) -> impl AsRef<[Option<i64>]> {
        [
            Some(self.number.cast_signed()),
            self.before.map(u64::cast_signed),
            Some(i64::from(self.port)),
            Some(i64::from(self.stream)),
            Some(self.seq.cast_signed()),
            Some(i64::from(self.copy)),
            Some(i64::from(self.octets)),
            Some(i64::from(self.class)),
            Some(self.came_ns),
            self.qdisc_ns,
            self.handed_ns,
            self.loaded_ns,
            Some(self.queued_ns),
            Some(self.eligible_ns),
            Some(self.start_ns),
            Some(self.end_ns),
            self.arrived_ns,
            Some(i64::from(self.accepted)),
            Some(self.sent_clock_ns),
            self.arrived_clock_ns,
        ]
    }
}

impl Row for Fragment {
    const SCHEMA: &'static str = "message fragments {
        REQUIRED INT64 passage (INTEGER(64,true));
        REQUIRED INT64 start_ns (INTEGER(64,true));
        REQUIRED INT64 end_ns (INTEGER(64,true));
    }";

    fn values(&self) -> impl AsRef<[Option<i64>]> {
        [Some(self.passage.cast_signed()), Some(self.start_ns), Some(self.end_ns)]
    }
}

impl Row for Expired {
    const SCHEMA: &'static str = "message expired {
        REQUIRED INT32 port (INTEGER(32,false));
        REQUIRED INT32 stream (INTEGER(32,false));
        REQUIRED INT64 seq (INTEGER(64,false));
        REQUIRED INT64 queued_ns (INTEGER(64,true));
        REQUIRED INT64 dropped_ns (INTEGER(64,true));
    }";

    fn values(&self) -> impl AsRef<[Option<i64>]> {
        let (port, stream) = (i64::from(self.port), i64::from(self.stream));
        [port, stream, self.seq.cast_signed(), self.queued_ns, self.dropped_ns].map(Some)
    }
}
