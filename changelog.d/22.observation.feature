Proxied calls are observed: the gateway knows the devices, users, groups and messages of an upstream from its answers, in all five dialects, behind the answers. Messages that an upstream sent have the state `observed`, and receipts find them by the upstream's name. `observed_sends_total` counts the sends that would
lack a proof.
