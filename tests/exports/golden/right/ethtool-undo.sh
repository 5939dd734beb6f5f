#!/bin/sh
ethtool -K eth3 tso on gso on gro on
ethtool --set-eee eth3 eee on
ethtool -K eth2 tso on gso on gro on
ethtool --set-eee eth2 eee on
ethtool --set-mm eth1 pmac-enabled off tx-enabled off verify-enabled off
ethtool -K eth1 tso on gso on gro on
ethtool --set-eee eth1 eee on
