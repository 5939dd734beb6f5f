#!/bin/sh
tc qdisc del dev eth1 root
tc qdisc del dev eth1 clsact
tc qdisc del dev eth2 root
tc qdisc del dev eth2 clsact
tc qdisc del dev eth3 root
tc qdisc del dev eth3 clsact
tc qdisc del dev eth4 root
tc qdisc del dev eth4 clsact
ip link del dev br0
ip link del dev ifb1
