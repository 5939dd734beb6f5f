"""What EnGINE prints of its experiments with MQPRIO and CBS: Tables 1, 9, 10 and 14, and Fig. 22 to 24."""

from __future__ import annotations

Printed = dict[str, list[tuple[float, float, float, float]]]

LIMITS = {"A": (2_000_000, 125_000), "B": (10_000_000, 1_000_000)}
"""Table 1: delay and jitter in ns."""

# Table 9, EX_MQ1, and Table 10, EX_MQ2: mean and 99th percentile of delay in ms, mean absolute jitter in us;
# of flows 1 to 4; from one to seven hops.
TABLE_9 = {
    "mean": [
        (0.03, 0.03, 0.03, 0.03),
        (0.19, 0.20, 0.19, 0.20),
        (0.45, 0.37, 0.40, 0.34),
        (0.61, 0.50, 0.54, 0.53),
        (0.67, 0.81, 0.65, 0.79),
        (0.81, 0.96, 0.99, 1.01),
        (0.97, 1.08, 1.03, 1.04),
    ],
    "p99": [
        (0.06, 0.06, 0.06, 0.05),
        (0.25, 0.24, 0.22, 0.25),
        (0.51, 0.50, 0.49, 0.45),
        (0.76, 0.64, 0.67, 0.67),
        (0.85, 0.91, 0.83, 0.90),
        (1.04, 1.07, 1.09, 1.10),
        (1.24, 1.23, 1.16, 1.20),
    ],
    "jitter": [
        (5.90, 5.40, 5.37, 5.72),
        (10.07, 32.61, 5.59, 14.60),
        (11.19, 27.84, 20.86, 39.67),
        (19.53, 44.21, 24.06, 38.75),
        (52.34, 14.98, 56.91, 17.18),
        (110.87, 20.73, 22.51, 19.47),
        (94.07, 23.05, 21.63, 22.45),
    ],
}
TABLE_10 = {
    "mean": [
        (0.63, 0.67, 0.22, 0.22),
        (1.57, 1.04, 0.56, 0.53),
        (2.40, 1.48, 0.77, 0.77),
        (3.12, 1.95, 1.09, 1.10),
        (2.91, 2.61, 1.31, 1.33),
        (3.83, 2.86, 1.53, 1.53),
        (3.94, 3.38, 1.80, 1.81),
    ],
    "p99": [
        (0.80, 1.09, 0.37, 0.37),
        (2.23, 1.27, 0.76, 0.75),
        (3.50, 1.81, 1.01, 0.98),
        (3.75, 2.48, 1.38, 1.37),
        (3.29, 3.05, 1.63, 1.59),
        (4.60, 3.43, 1.86, 1.84),
        (4.80, 3.73, 2.19, 2.12),
    ],
    "jitter": [
        (48.44, 48.44, 47.75, 48.51),
        (48.30, 48.37, 75.38, 73.97),
        (48.25, 48.17, 79.82, 71.00),
        (48.44, 48.04, 100.98, 99.65),
        (48.30, 48.29, 104.98, 96.64),
        (48.50, 48.43, 105.28, 102.82),
        (48.30, 48.25, 124.13, 109.92),
    ],
}

# Fig. 22 to 24 as the text reads them: mean delay at 1 and at 7 hops, and the greatest at 7 hops, in ms.
FIGURES = {
    ("cs1", "flow4"): (None, 1.43, None),
    ("cs2", "flow4"): (None, 1.43, None),
    ("cm1", "flow4"): (0.11, 1.54, 2.00),
    ("cm2", "flow4"): (0.11, 1.90, 2.42),
    ("cm1", "flow3"): (None, None, 2.00),
    ("cm2", "flow3"): (0.11, 1.90, 2.41),
}
# Table 14: delay and jitter of class A, of class B. (*) mean and median only.
TABLE_14 = {
    "mq1": ("YES", "YES*", "YES", "YES"),
    "mq2": ("YES", "YES*", "YES", "YES"),
    "cs1": ("YES", "YES*", "YES", "YES"),
    "cs2": ("YES", "YES*", "YES", "YES"),
    "cm1": ("YES", "YES*", "YES", "YES"),
    "cm2": ("YES*", "YES*", "YES", "YES"),
}

# Table 11: mode, txtime-delay, hops to mean, median and p99 of delay, us.
TABLE_11 = {
    ("strict", "200 us", "1"): (166.6, 167.8, 174.8),
    ("strict", "200 us", "2"): (986.9, 1019.5, 1153.7),
    ("strict", "200 us", "4"): (2682.1, 2957.8, 3114.0),
    ("strict", "200 us", "7"): (5329.3, 5179.9, 5955.7),
    ("strict", "450 us", "7"): (6169.5, 6170.7, 6174.1),
    ("deadline", "200 us", "1"): (14.6, 13.1, 26.0),
    ("deadline", "200 us", "2"): (172.3, 186.2, 230.1),
    ("deadline", "200 us", "4"): (493.4, 573.2, 620.4),
    ("deadline", "200 us", "7"): (883.4, 928.4, 1326.1),
    ("deadline", "450 us", "7"): (915.0, 973.2, 1262.9),
}
# Table 12: offload, mode, hops to the same.
TABLE_12 = {
    ("true", "strict", "1"): (169.7, 170.9, 174.0),
    ("true", "strict", "2"): (623.0, 504.7, 1121.5),
    ("true", "strict", "4"): (1510.2, 1738.3, 1886.8),
    ("true", "strict", "7"): (3085.4, 3330.7, 3539.8),
    ("true", "deadline", "7"): (991.5, 989.0, 1438.9),
    ("false", "strict", "1"): (30.9, 31.5, 51.3),
    ("false", "strict", "2"): (231.6, 231.0, 250.8),
    ("false", "strict", "4"): (684.0, 632.0, 1295.1),
    ("false", "strict", "7"): (1192.8, 1123.0, 2113.3),
    ("false", "deadline", "7"): (977.7, 1006.8, 1185.4),
}
# Table 13: mode and stream to the median of delay without and with cross-traffic, us.
TABLE_13 = {
    ("strict", "f1-cc"): (1003.3, 1965.5),
    ("strict", "f1-adas"): (1166.8, 2149.6),
    ("strict", "f2-lidar"): (3165.7, 2401.4),
    ("strict", "f2-radar"): (2922.3, 2445.0),
    ("strict", "f3-radar"): (1904.5, 1981.7),
    ("strict", "f3-us"): (1905.9, 2114.5),
    ("strict", "f3-gps"): (1917.6, 2121.9),
    ("deadline", "f1-cc"): (214.6, 179.5),
    ("deadline", "f1-adas"): (131.1, 135.9),
    ("deadline", "f2-lidar"): (238.2, 413.2),
    ("deadline", "f2-radar"): (228.9, 303.3),
    ("deadline", "f3-radar"): (199.6, 118.0),
    ("deadline", "f3-us"): (192.9, 102.3),
    ("deadline", "f3-gps"): (173.6, 95.6),
}
