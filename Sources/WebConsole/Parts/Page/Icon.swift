/// An icon of the sprite: 16 px, 1.5 px stroke, always with a label.
package enum Icon: String, Sendable, Hashable, CaseIterable {
    case overview, messages, compose, find, devices, users, groups, failures, live, apps, credentials, routes, migration
    case keys, webhooks, nodes, accounts, approvals, audit, security, templates, captures, campaigns, hours, more
}
