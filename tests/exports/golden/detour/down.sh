#!/bin/sh
tc qdisc del dev eth1 root
tc qdisc del dev eth1 clsact
tc qdisc del dev eth2 root
tc qdisc del dev eth2 clsact
ip link del dev br0
