import APNsSimulator
import Foundation

/// The credentials and devices of the table's rows.
struct RuleTableMaterials {
    private let folder: URL
    private let authority: CertificateAuthority
    private let team = TestKey(keyID: "TEAMKEY123")
    private let others: [String: TestKey] = [
        "sandbox": TestKey(keyID: "SANDBOX123"), "revoked": TestKey(keyID: "REVOKED123"),
        "topical": TestKey(keyID: "TOPICAL123"), "unknown": TestKey(keyID: "UNKNOWN123"),
        "otherTeam": TestKey(teamID: "ZZZZZ99999", keyID: "TEAMKEY123"), "forged": TestKey(keyID: "TEAMKEY123"),
    ]

    init() throws {
        folder = try temporaryFolder()
        authority = try CertificateAuthority()
        try Data(team.privatePEM.utf8).write(to: file("team"))
        for (name, key) in others { try Data(key.privatePEM.utf8).write(to: file(name)) }
        try write("stranger", of: CertificateAuthority(), .init(topics: [RuleTableRow.app]))
        try write("certificate", of: authority, .init(topics: [RuleTableRow.app]))
        try write("expired", of: authority, .init(topics: [RuleTableRow.app], days: -1))
        try write("otherCertificate", of: authority, .init(topics: ["com.example.other"]))
        try write("otherEnvironment", of: authority, .init(topics: [RuleTableRow.app], environment: .sandbox))
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    /// The keys that the simulator knows. `unknown` is not one of them; `forged` and `otherTeam` only claim to be the
    /// team's.
    func registered() throws -> [ProviderKey] {
        var keys = [try team.registered()]
        if let key = others["sandbox"] { keys.append(try key.registered(environment: .sandbox)) }
        if let key = others["revoked"] { keys.append(try key.registered(isRevoked: true)) }
        if let key = others["topical"] { keys.append(try key.registered(topics: ["com.example.other"])) }
        return keys
    }

    func configure(_ configuration: inout SimulatorConfiguration) {
        configuration.clientAuthorities = try? ClientAuthorities(pem: authority.certificatePEM)
        configuration.broadcastApps = [RuleTableRow.app]
        configuration.pushesPerTokenAndSecond = 5
        // The time stays the same second for all rows, because a slow machine sends too few pushes within a real one.
        let start = Int(Date().timeIntervalSince1970)
        configuration.now = { start }
    }

    func register(_ running: RunningSimulator) throws {
        try running.simulator.control.register([
            ("22", RegisteredDevice(environment: .sandbox)), ("23", RegisteredDevice(bundle: "com.example.other")),
            ("24", RegisteredDevice(state: .unregistered, timestamp: 1_700_000_000_123)),
            ("2424", RegisteredDevice(state: .expired)),
        ])
        try running.simulator.control.script([
            ScriptedAnswer(token: "35", status: 500), ScriptedAnswer(token: "3535", status: 503),
        ])
    }

    /// A row in the format of `aioapns_rules.py`.
    func line(_ row: RuleTableRow) throws -> String {
        let fields = row.push ?? [:]
        var push: [String: Any] = [
            "token": fields["token"] ?? RuleTableRow.token, "message": Self.message(fields),
            "priority": fields["priority"] ?? "10", "type": fields["type"] ?? "alert",
        ]
        if let seconds = fields["ttl"].flatMap({ Int($0) }) { push["ttl"] = seconds }
        if let collapse = fields["collapse"] { push["collapse"] = collapse }
        let line: [String: Any] = [
            "client": client(row.credential), "push": push, "times": row.times,
            // The token is discarded after each push, so that the second token is too early.
            "token_ttl": row.credential == "hasty" ? -1 : 1800,
        ]
        return String(decoding: try JSONSerialization.data(withJSONObject: line), as: UTF8.self)
    }

    private func client(_ credential: String) -> [String: String] {
        switch credential {
        case "certificate", "expired", "stranger", "otherCertificate", "otherEnvironment":
            return ["client_cert": file(credential).path, "topic": RuleTableRow.app]
        default:
            let key = others[credential] ?? team
            let topic = credential == "voip" ? RuleTableRow.app + ".voip" : RuleTableRow.app
            let keyFile = others[credential] == nil ? "team" : credential
            return ["key": file(keyFile).path, "key_id": key.keyID, "team_id": key.teamID, "topic": topic]
        }
    }

    /// Python writes `{"aps": {"alert": "…"}}`: 22 bytes around the text.
    private static func message(_ fields: [String: String]) -> [String: Any] {
        if let number = fields["alert"].flatMap({ Int($0) }) { return ["aps": ["alert": number]] }
        let count = fields["bytes"].flatMap { Int($0) } ?? 40
        return ["aps": ["alert": String(repeating: "x", count: count - 22)]]
    }

    private func write(_ name: String, of authority: CertificateAuthority, _ request: ClientCertificateRequest) throws {
        let identity = try authority.makeClientIdentity(request)
        try Data((identity.certificatePEM + identity.keyPEM).utf8).write(to: file(name))
    }

    private func file(_ name: String) -> URL { folder.appending(path: name) }
}
