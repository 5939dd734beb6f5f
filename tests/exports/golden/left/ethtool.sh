#!/bin/sh
ethtool -L eth1 combined 4
ethtool -s eth1 speed 1000 duplex full autoneg on
ethtool --set-eee eth1 eee off
ethtool -C eth1 rx-usecs 0 tx-usecs 0
ethtool -K eth1 tso off gso off gro off
ethtool -L eth2 combined 4
ethtool -s eth2 speed 1000 duplex full autoneg on
ethtool --set-eee eth2 eee off
ethtool -C eth2 rx-usecs 0 tx-usecs 0
ethtool -K eth2 tso off gso off gro off
ethtool -L eth3 combined 4
ethtool -s eth3 speed 1000 duplex full autoneg on
ethtool --set-eee eth3 eee off
ethtool -C eth3 rx-usecs 0 tx-usecs 0
ethtool -K eth3 tso off gso off gro off
ethtool -L eth4 combined 4
ethtool -s eth4 speed 100 duplex full autoneg on
ethtool --set-eee eth4 eee off
ethtool -C eth4 rx-usecs 0 tx-usecs 0
ethtool -K eth4 tso off gso off gro off
