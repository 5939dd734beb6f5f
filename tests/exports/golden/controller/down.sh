#!/bin/sh
tc qdisc del dev eth1 root
ip link del dev eth1.10
ip link del dev eth1.20
ip address del 10.0.0.2/32 dev eth1
