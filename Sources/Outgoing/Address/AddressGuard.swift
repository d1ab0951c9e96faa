package import Model

/// Decides which addresses outgoing calls may reach: the public internet and the addresses that the operator allows.
///
/// The address comes from the party that set the webhook or the upstream, so without this check a tenant could make the gateway connect to the database, the cloud's
/// metadata service or a neighbouring host. It checks addresses, never names: the caller connects to exactly the address that was checked.
package struct AddressGuard: Sendable {
    /// Reserved by the IANA special-purpose registries (RFC 6890 and its updates, read 2026-11).
    private static let refusedV4 = ranges([
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
    ])
    /// Global unicast. All other addresses are refused: unspecified, loopback, IPv4-mapped, NAT64, unique-local, link-local, multicast.
    private static let unicastV6 = ranges(["2000::/3"])
    /// Refused parts of it: Teredo and other protocol assignments, documentation, and 6to4, which contains an unchecked IPv4 address.
    private static let refusedV6 = ranges(["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"])

    private static func ranges(_ texts: [String]) -> [AddressRange] { texts.compactMap { AddressRange($0) } }

    private let allowed: [AddressRange]

    /// A guard that permits the public internet and `allowed`.
    package init(allowing allowed: [AddressRange] = []) { self.allowed = allowed }

    /// Whether the operator allows `address` by name of its range. Only these may be called without TLS.
    package func allows(_ address: IPAddress) -> Bool { allowed.contains { $0.contains(address) } }

    /// Whether a connection to `address` may be opened.
    package func permits(_ address: IPAddress) -> Bool {
        if allows(address) { return true }
        if address.isV4 { return !Self.refusedV4.contains { $0.contains(address) } }
        return Self.unicastV6.contains { $0.contains(address) } && !Self.refusedV6.contains { $0.contains(address) }
    }
}
