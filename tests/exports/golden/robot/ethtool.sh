#!/bin/sh
ethtool -L eth1 combined 4
ethtool -s eth1 speed 1000 duplex full autoneg on
ethtool --set-eee eth1 eee off
ethtool -C eth1 rx-usecs 0 tx-usecs 0
ethtool -K eth1 tso off gso off gro off
