#!/bin/sh
ethtool -L eth1 combined 4
ethtool -s eth1 speed 1000 duplex full autoneg on
ethtool --set-eee eth1 eee off
ethtool -C eth1 rx-usecs 0 tx-usecs 0
ethtool -K eth1 tso off gso off gro off
ethtool --set-mm eth1 pmac-enabled on tx-enabled on verify-enabled on tx-min-frag-size 60
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
