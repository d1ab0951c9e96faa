Webhooks and callbacks of all tenants take turns: of the 64 concurrent calls of a node, a tenant has at most 32 and a host at most 16.
