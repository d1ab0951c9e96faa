/// The rights of an API key, for the comparison with the key of a call that creates it or gives it a new secret: a caller gives nobody more rights than it has. It
/// is pure.
package struct KeyRights: Sendable, Hashable {
    package var scopes: KeyScopes
    /// Empty: every network.
    package var networks: [AddressRange]
    /// Nil: it does not expire.
    package var expiresAt: Timestamp?
    /// Nil: any number.
    package var recipientsPerDay: Int?

    package init(
        scopes: KeyScopes,
        networks: [AddressRange] = [],
        expiresAt: Timestamp? = nil,
        recipientsPerDay: Int? = nil
    ) {
        self.scopes = scopes
        self.networks = networks
        self.expiresAt = expiresAt
        self.recipientsPerDay = recipientsPerDay
    }

    /// A right that the calling key lacks.
    package struct Excess: Sendable, Hashable {
        /// The name of the field.
        package var field: String
        package var fault: String
    }

    /// The first property in which these rights exceed those of the calling key; nil: in none.
    package func excess(over caller: KeyRights) -> Excess? {
        guard caller.scopes.mayAdminister else {
            return Excess(field: "scopes", fault: "the calling key lacks the scope 'admin'")
        }
        if let end = caller.expiresAt, expiresAt.map({ $0 > end }) ?? true {
            return Excess(field: "expiresAt", fault: "must not be after the end of the calling key, \(end.rfc3339)")
        }
        let isInside = networks.allSatisfy { network in caller.networks.contains { $0.contains(network) } }
        if !caller.networks.isEmpty, networks.isEmpty || !isInside {
            let own = caller.networks.map(\.description).joined(separator: ", ")
            return Excess(field: "networks", fault: "must be within those of the calling key: \(own)")
        }
        // Every new key would add recipients to those of the calling key.
        if caller.recipientsPerDay != nil, scopes.apps(.send) != .only([]) {
            return Excess(
                field: "scopes",
                fault: "the calling key has a limit of recipients per day, so that it creates no keys that send"
            )
        }
        return nil
    }
}
