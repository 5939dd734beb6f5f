"""A Plan as instance data of IEEE 802.1Q, 802.1CB and 802.1AS modules: XML as an `edit-config` takes it."""
