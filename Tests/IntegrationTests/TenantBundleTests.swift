import Crypto
import Foundation
import Gateway
import Model
import Secrets
import Testing

@testable import CommandSupport

/// A tenant that moves from one gateway to another by `tenant export` and `tenant import`.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct TenantBundleTests {
    private static let lines = WholeDevice.lines("b", 1200, users: 700)

    /// The files of a directory by name, without the manifest, which contains the time.
    private func files(_ directory: String) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) where name.hasSuffix(".ndjson") {
            files[name] = try Data(contentsOf: URL(filePath: "\(directory)/\(name)"))
        }
        return files
    }

    @Test func theImportedTenantIsExportedAsTheSameFiles() async throws {
        try await World.with { first in
            #expect(try await first.apply().status == 0)
            let path = first.material.path("list.ndjson")
            try Self.lines.values.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
            let place = ["--tenant", "acme", "--app", "shop"]
            for vendor in ["native", "notificationhubs"] {
                let done = try await first.command(["devices", "import", path, "--vendor", vendor] + place)
                #expect(done.status == 0, "\(done.log)")
            }
            try await leaveUnread(first)
            let directory = first.material.path("bundle")
            let exported = try await first.command(["tenant", "export", directory, "--tenant", "acme"])
            #expect(exported.status == 0, "\(exported.log)")
            let written = try files(directory)
            #expect(written.count >= 6 && written.keys.contains { $0.hasPrefix("inbox-") }, "\(written.keys.sorted())")
            // The same devices in two dialects, with all that the list says.
            let list = WholeDevice.file(Self.lines)
            #expect(written.count { $0.key.hasPrefix("devices-") && $0.value == list } == 2)
            let again = try await first.command(["tenant", "export", directory, "--tenant", "acme"])
            #expect(again.status == 2 && again.log.contains("contains an export"), "\(again.log)")

            try await World.with { second in
                #expect(try await second.apply().status == 0)
                try await second.bindIPNS()
                let imported = try await second.command(["tenant", "import", directory, "--tenant", "acme"])
                #expect(imported.status == 0, "\(imported.log)")
                let other = second.material.path("bundle")
                let copied = try await second.command(["tenant", "export", other, "--tenant", "acme"])
                #expect(copied.status == 0, "\(copied.log)")
                let copies = try files(other)
                #expect(copies.keys.sorted() == written.keys.sorted())
                for (name, data) in written { #expect(copies[name] == data, "\(name)") }
                // A second import changes nothing.
                let repeated = try await second.command(["tenant", "import", directory, "--tenant", "acme"])
                #expect(repeated.status == 0, "\(repeated.log)")
                let last = second.material.path("last")
                _ = try await second.command(["tenant", "export", last, "--tenant", "acme"])
                #expect(try files(last) == copies)

                try await refuseDamage(directory, second)
            }
        }
    }

    /// Registers devices that fetch their messages (iPNS), and sends them some that they do not fetch.
    private func leaveUnread(_ world: World) async throws {
        try await world.bindIPNS()
        let users = ["bundle-1", "bundle-2", "bundle-3"]
        for (number, user) in users.enumerated() {
            let token = JSON.string(IPNSTests.token(0x100 + number))
            let name = JSON.string(user)
            try await call(world, "appRegist", ["USER_CN": name, "DEVICE_ID": name, "PUSH_TOKEN": token])
        }
        for count in 1...users.count {
            let ids = JSON.array(users.prefix(count).map { .string($0) })
            try await call(
                world,
                "send",
                ["PUSH_ID_TYPE": "@01", "PUSH_ID": ids, "ALERT": "Unread", "MESSAGE": "{}", "SEND_TYPE": "I"]
            )
        }
        try await eventually("the messages are sent") {
            try await world.value(
                "SELECT count(*)::text AS value FROM gateway.delivery d WHERE d.vendor = 'ipns' AND d.state = 'sent'"
            ) == "6"
        }
    }

    private func call(_ world: World, _ operation: String, _ fields: JSON) async throws {
        var body = fields.object ?? JSONObject()
        body["APP_ID"] = "hr.mobile"
        let answer = try await world.http.call("POST", "/ipns/\(operation)", .object(body), bearer: world.apiKey)
        try #require(answer.json?["RT"] == "0000", "\(operation): \(answer.text)")
    }

    /// A damaged export is refused by the name of its file, before anything is imported: each file is damaged once.
    private func refuseDamage(_ directory: String, _ world: World) async throws {
        for (name, whole) in try files(directory).sorted(by: { $0.key < $1.key }) where !whole.isEmpty {
            let url = URL(filePath: "\(directory)/\(name)")
            var changed = whole
            changed[changed.count / 2] ^= 1
            try changed.write(to: url)
            let flipped = try await world.command(["tenant", "import", directory, "--tenant", "acme"])
            #expect(flipped.status == 2 && flipped.log.contains("\(name) was changed"), "\(flipped.log)")
            try FileManager.default.removeItem(at: url)
            let missing = try await world.command(["tenant", "import", directory, "--tenant", "acme"])
            #expect(missing.status == 2 && missing.log.contains("\(name) is missing"), "\(missing.log)")
            try whole.write(to: url)
        }
        let manifest = URL(filePath: "\(directory)/manifest.json")
        let text = try String(contentsOf: manifest, encoding: .utf8)
        try text.replacing("\"version\":2", with: "\"version\":3").write(
            to: manifest,
            atomically: true,
            encoding: .utf8
        )
        let newer = try await world.command(["tenant", "import", directory, "--tenant", "acme"])
        #expect(newer.status == 2 && newer.log.contains("has version 3"), "\(newer.log)")
        try FileManager.default.removeItem(at: manifest)
        let unnamed = try await world.command(["tenant", "import", directory, "--tenant", "acme"])
        #expect(unnamed.status == 2 && unnamed.log.contains("manifest.json is missing"), "\(unnamed.log)")
        try text.write(to: manifest, atomically: true, encoding: .utf8)
        let stranger = try await world.command(["tenant", "import", directory, "--tenant", "nobody"])
        #expect(stranger.status == 1 && stranger.log.contains("has no app"), "\(stranger.log)")
    }

    // MARK: Secrets

    // Neither the tenant's nor the gateway's.
    @Test func theFilesContainNoSecretInAnyForm() async throws {
        try await World.with { world in
            #expect(try await world.apply().status == 0)
            let list = world.material.path("list.ndjson")
            try WholeDevice.file(WholeDevice.lines("s", 60, users: 20)).write(to: URL(filePath: list))
            for vendor in ["native", "notificationhubs"] {
                let done = try await world.command(
                    ["devices", "import", list, "--vendor", vendor, "--tenant", "acme", "--app", "shop"]
                )
                #expect(done.status == 0, "\(done.log)")
            }
            try await leaveUnread(world)
            let secrets = try await addSecrets(world)
            #expect(
                try await world.value("SELECT count(*)::text AS value FROM gateway.credential") == "4",
                "the key of APNs and three upstreams"
            )

            let directory = world.material.path("bundle")
            let exported = try await world.command(["tenant", "export", directory, "--tenant", "acme"])
            #expect(exported.status == 0, "\(exported.log)")
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
            for kind in ["devices-", "users-", "groups-", "inbox-", "manifest.json"] {
                #expect(names.contains { $0.hasPrefix(kind) }, "\(kind) of \(names.sorted())")
            }
            for name in names {
                let content = try Data(contentsOf: URL(filePath: "\(directory)/\(name)"))
                for (secret, bytes) in secrets {
                    let isFound = Self.contains(bytes, content)
                    #expect(!isFound, "\(secret) is in \(name)")
                }
            }
        }
    }

    // The control: the search finds a secret in each form.
    @Test func aSecretIsFoundInEachForm() {
        let secret = Data("a secret of 22 letters".utf8)
        for before in ["", "x", "xy"] {
            let whole = Data(before.utf8) + secret + Data("z".utf8)
            let base64 = whole.base64EncodedString()
            let hex = HexCoding.encode(whole)
            for form in [String(decoding: whole, as: UTF8.self), hex, hex.uppercased(), base64, Self.forURLs(base64)] {
                #expect(Self.contains(secret, Data("{\"a\":\"\(form)\"}".utf8)), "\(form)")
            }
        }
        #expect(!Self.contains(secret, Data("a secret of 23 letters".utf8)))
    }

    /// Whether `content` has the bytes as they are, in hex, or in base64 within a longer text.
    private static func contains(_ secret: Data, _ content: Data) -> Bool {
        let hex = HexCoding.encode(secret)
        var texts = [hex, hex.uppercased()]
        for before in 0..<3 {
            let whole = Data(repeating: 0, count: before) + secret
            // Without the characters that depend on what is before and behind the secret.
            let base64 = String(
                whole.base64EncodedString().prefix(whole.count * 8 / 6).dropFirst(before == 0 ? 0 : before + 1)
            )
            texts += [base64, forURLs(base64)]
        }
        return ([secret] + texts.map { Data($0.utf8) }).contains { content.range(of: $0) != nil }
    }

    private static func forURLs(_ base64: String) -> String {
        base64.replacing("+", with: "-").replacing("/", with: "_")
    }

    /// Gives the tenant secrets of every kind, in addition to what `ipns.yaml` says. Returns all of its secrets, and the master key.
    private func addSecrets(_ world: World) async throws -> [String: Data] {
        let identifiers = SystemIdentifiers()
        var secrets: [String: String] = ["key": APIKeys.make(identifiers)]
        for name in ["rest", "track", "app", "send", "full", "next", "mina", "old-braze", "old-hub", "old-ipns"] {
            secrets[name] = "\(name)-\(identifiers.randomHex(byteCount: 16))"
        }
        try world.writeKeys(secrets.map { (name: $0.key, secret: $0.value) })
        let credentials = """
                credentials:
                  - { id: old-braze, kind: upstream-braze, url: "https://rest.example.com", restKeyFile: old-braze.key }
                  - { id: old-hub, kind: upstream-notificationhubs, url: "https://hub.example.com", hub: old,
                      keyName: Full, keyFile: old-hub.key }
                  - { id: old-ipns, kind: upstream-ipns, url: "https://ipns.example.com", apiKeyFile: old-ipns.key }

            """
        let bindings = """
                      upmc: { applicationId: com.example.secrets, authKeySecretFile: app.key, sendKeyFile: send.key }
                      braze:
                        restKeyFile: rest.key
                        restKeys: [ { name: crm, valueFile: track.key, permissions: [users.track] } ]
                      notificationhubs:
                        hub: secret-hub
                        keys:
                          - { name: Full, valueFile: full.key, secondaryFile: next.key, rights: [listen, send, manage] }
                        appBackend: { users: [ { name: mina, passwordFile: mina.key } ] }

            """
        let keys = "    apiKeys:\n      - { name: other, secretFile: key.key, scopes: [admin] }\n"
        let text = try String(contentsOfFile: world.material.path("ipns.yaml"), encoding: .utf8)
            .replacing("    credentials:\n", with: credentials).replacing("    apiKeys:\n", with: keys)
        try (text + bindings).write(toFile: world.material.path("secrets.yaml"), atomically: true, encoding: .utf8)
        let applied = try await world.apply("secrets.yaml")
        try #require(applied.status == 0, "\(applied.log)")
        secrets["webhook"] = try await webhookSecret(world, secrets["key"])
        secrets["backend"] = world.apiKey

        var found = secrets.mapValues { Data($0.utf8) }
        let pem = try String(
            contentsOfFile: world.material.path("AuthKey_\(StageMaterial.keyID).p8"),
            encoding: .utf8
        )
        found["the APNs key"] = try P256.Signing.PrivateKey(pemRepresentation: pem).rawRepresentation
        for (number, line) in pem.split(separator: "\n").enumerated() where !line.hasPrefix("-----") {
            found["line \(number) of the APNs key"] = Data(line.utf8)
        }
        // `v2:` and 64 hex digits.
        let master = try String(contentsOfFile: world.material.path("data/master.key"), encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        found["the master key"] = Data(try #require(HexCoding.decode(String(master.suffix(64)))))
        return found
    }

    /// Creates a webhook, and returns its secret.
    private func webhookSecret(_ world: World, _ key: String?) async throws -> String {
        let webhook: JSON = ["url": "https://example.com/events", "kinds": ["sent"], "active": false]
        return try await first("the key is served") {
            let made = try await world.http.call("POST", "/v1/webhooks", webhook, bearer: key)
            guard made.status == 201 else { return nil }
            return try #require(made.json?["secret"]?.string)
        }
    }
}
