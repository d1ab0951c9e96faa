`pushesPerSecond` on a credential or a tenant limits what all nodes together send.
