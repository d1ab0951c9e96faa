import ArgumentParser

/// The limits of calls. `off` switches a limit off.
struct LimitOptions: ParsableArguments {
    @Flag(inversion: .prefixedNo, help: "Limit calls. --no-limits-calls switches all of the following limits off.")
    var limitsCalls: Bool?
    @Option(help: "Identities that one address may create, per second and at once. Default 10/600.")
    var limitsIdentities: String?
    @Option(help: "Calls of one address that name an unknown device, message or binding. Default 5/300.")
    var limitsUnknown: String?
    @Option(help: "Calls of one known identity. Default 5/300.")
    var limitsIdentity: String?
    @Option(help: "Calls of devices that name one user. Default 20/1200.")
    var limitsUser: String?
    @Option(help: "Calls of devices that name one phone. Default 0.2/30.")
    var limitsPhone: String?
    @Option(help: "Failed proofs after which one address has to wait. Default 20.")
    var limitsProofsAddress: String?
    @Option(help: "Failed proofs after which one address has to wait with one name of a key or user. Default 5.")
    var limitsProofsName: String?
    @Option(help: "Open connections of one address. Default 1024.")
    var limitsConnections: String?
    @Option(help: "Bytes of bodies above 64 KiB that this node holds at once. Default 16777216.")
    var limitsBodiesBytes: Int?
    @Option(help: "Seconds that such a body waits for room (1 to 60). Default 10.")
    var limitsBodiesWait: Int?
    @Option(help: "CIDR ranges whose calls are not limited, comma-separated. Default: none.")
    var limitsExempt: String?
    @Option(help: .hidden)
    var callsPerSecond: String?

    /// The given flags: dotted names with their values.
    var flags: [String: String] {
        var flags: [String: String] = [:]
        flags["limits.calls"] = limitsCalls.map { "\($0)" }
        flags["limits.identities"] = limitsIdentities
        flags["limits.unknown"] = limitsUnknown
        flags["limits.identity"] = limitsIdentity
        flags["limits.user"] = limitsUser
        flags["limits.phone"] = limitsPhone
        flags["limits.proofs.address"] = limitsProofsAddress
        flags["limits.proofs.name"] = limitsProofsName
        flags["limits.connections"] = limitsConnections
        flags["limits.bodies.bytes"] = limitsBodiesBytes.map(String.init)
        flags["limits.bodies.wait"] = limitsBodiesWait.map(String.init)
        flags["limits.exempt"] = limitsExempt
        flags["calls.per.second"] = callsPerSecond
        return flags
    }
}
