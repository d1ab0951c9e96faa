package import Model

/// The tables with secrets that the master key seals.
package enum SealedTable: String, Sendable, Hashable, CaseIterable {
    case credential
    case binding
    case webhook
    /// The webhook's secret before its last rotation.
    case formerWebhook
    case providerToken
}

/// A row with sealed secrets.
package struct SealedEntry: Sendable, Hashable {
    /// The row's key, and what else identifies the secret. For a binding: vendor, kind, value, host, tenant and app.
    package var parts: [String]
    /// The sealed bytes; for a binding, the text of its settings, which contain sealed secrets by name.
    package var stored: [UInt8]

    package init(parts: [String], stored: [UInt8]) {
        self.parts = parts
        self.stored = stored
    }
}

/// The master keys of a running node.
package struct NodeKeys: Sendable, Hashable {
    package var node: NodeID
    /// The ids, that of the sealing key first. Nil for a program that does not report them.
    package var ids: [String]?

    package init(node: NodeID, ids: [String]?) {
        self.node = node
        self.ids = ids
    }
}
