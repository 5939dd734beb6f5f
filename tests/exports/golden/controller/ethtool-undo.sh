#!/bin/sh
ethtool -K eth1 tso on gso on gro on
ethtool --set-eee eth1 eee on
