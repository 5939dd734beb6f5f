#!/bin/sh
ethtool -K eth4 tso on gso on gro on
ethtool --set-eee eth4 eee on
ethtool -K eth3 tso on gso on gro on
ethtool --set-eee eth3 eee on
ethtool -K eth2 tso on gso on gro on
ethtool --set-eee eth2 eee on
ethtool -K eth1 tso on gso on gro on
ethtool --set-eee eth1 eee on
