#!/bin/sh
tc qdisc del dev eth1 root
ip link del dev eth1.10
ip link del dev eth1.20
ip link del dev eth1.100
ip address del 10.0.0.1/32 dev eth1
