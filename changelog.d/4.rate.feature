`pushesPerSecond` on a credential or a tenant limits the rate of all nodes together.
