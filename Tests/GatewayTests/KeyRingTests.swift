import EngineStore
import Foundation
import Model
import Testing

@testable import Gateway
@testable import Secrets

/// The ring of master keys: which key seals, which open, and what a rotation leaves as it is.
struct KeyRingTests {
    private let old: MasterKey
    private let new: MasterKey

    init() throws {
        old = try MasterKey(bytes: [UInt8](repeating: 1, count: 32))
        new = try MasterKey(bytes: [UInt8](repeating: 2, count: 32), form: .derived)
    }

    /// A ring of both keys, in which the old one seals.
    private func ring() throws -> KeyRing {
        let ring = try KeyRing([old, new])
        try ring.bind(to: MasterKeyCheck(keyID: old.id, checkValue: old.checkValue))
        return ring
    }

    private func file(_ text: String) throws -> String {
        let path = NSTemporaryDirectory() + "pgw-ring-" + SystemIdentifiers().randomHex(byteCount: 4)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return path
    }

    // MARK: Derivation

    // With Python: hmac-sha256 for HKDF (RFC 5869, no salt, one block), the `cryptography` package for AES-GCM. The key of each purpose is
    // HKDF(0101…01, "push-gateway master key " + sealing | nonce | id | check value | root); openssl kdf yields the same. The nonce of `sealSame` is the
    // beginning of HMAC(nonce key, "push-gateway nonce" NUL context NUL secret).
    @Test func eachPurposeHasItsOwnKey() throws {
        let key = try MasterKey(bytes: [UInt8](repeating: 1, count: 32), form: .derived)
        #expect(key.id == "b0b7a04d2a5cbf80")
        #expect(
            HexCoding.encode(key.checkValue) == "6fad320f550875ad0951ed2673b8bb517f3670a02d70056586a80ff3eca6ee77"
        )
        #expect(
            HexCoding.encode(key.root.bytes) == "e1b2e2c8d0035f1865bb87487a445fb414e30ce5e811eee5bf3cc62b740f1e6b"
        )
        #expect(
            HexCoding.encode(try key.sealSame(Array("abc".utf8), context: "x"))
                == "9e3af229b21f4f5460f87da84abd41a279cb80c482e121429b2dfaa3f3d7b5"
        )
        // HKDF(0101…01, "push-gateway backup").
        #expect(
            HexCoding.encode(key.backupSecret) == "5e84c18ad889746a81d9a05d62654b49b0a491554c6256acb1395e5f5ec4965f"
        )
        let ring = try KeyRing([key])
        #expect(
            HexCoding.encode(ring.senderSecret("t", "a", .rationalOwl, "s"))
                == "2505a6d9d433b559bda85a36924f26ad3c66ee6953dfcef7440c27584de6ab67"
        )
        #expect(
            HexCoding.encode(ring.derived("audit checkpoint"))
                == "6f4aea006cf4a43b3603e1f012eb8a1ea0c25946a338e0c587d92b97c523e764"
        )
    }

    // Secrets that earlier versions wrote stay valid: the same bytes, computed in the same way.
    @Test func aKeyOfTheFirstVersionsIsUsedAsItWas() throws {
        #expect(old.id == "0f1454c4ae1f135b")
        #expect(
            HexCoding.encode(try old.sealSame(Array("abc".utf8), context: "x"))
                == "9657d1ec50b3b29f065c20d94e61b5cd1c8c88536d31a818d2ecf6fcd86977"
        )
        #expect(
            HexCoding.encode(try KeyRing([old]).derived("audit checkpoint"))
                == "04f2b5c5570be974bea1d6cb939c8e0a80b21705ae38806d14c3e4502364d658"
        )
    }

    // MARK: The ring

    @Test func everyKeyOpensAndTheNamedOneSeals() throws {
        let ring = try ring()
        let sealed = try ring.seal([1, 2, 3], context: "x")
        #expect(ring.opened(sealed, context: "x")?.key == old.id)
        #expect(try ring.bind(to: try ring.row(for: new)))
        #expect(try ring.open(sealed, context: "x") == [1, 2, 3])
        #expect(ring.opened(try ring.seal([4], context: "x"), context: "x")?.key == new.id)
        #expect(ring.ids == [new.id, old.id])
        #expect(ring.opened(sealed, context: "y") == nil)
        #expect(throws: MasterKeyError.self) { try KeyRing([new]).open(sealed, context: "x") }
    }

    @Test func aKeyThatTheDatabaseNamesMustBeThere() throws {
        let row = try ring().row(for: new)
        let alone = try KeyRing([old])
        let error = #expect(throws: MasterKeyError.self) { try alone.bind(to: row) }
        #expect(error?.description.contains(new.id) == true && error?.description.contains(old.id) == true)
        #expect(alone.current.id == old.id)
        // The id alone is not enough.
        #expect(throws: MasterKeyError.self) {
            try ring().bind(to: MasterKeyCheck(keyID: new.id, checkValue: old.checkValue))
        }
    }

    // The secrets of senders are known to their back ends, and the audit's public key to its verifiers.
    @Test func whatIsKnownOutsideSurvivesTheRotationAndTheRemovalOfTheOldKey() throws {
        let ring = try ring()
        let secret = ring.senderSecret("t", "a", .rationalOwl, "s")
        let signer = try AuditSigner(ring).publicKey
        let row = try ring.row(for: new)
        let later = try KeyRing([new])
        try later.bind(to: row)
        #expect(later.senderSecret("t", "a", .rationalOwl, "s") == secret)
        #expect(try AuditSigner(later).publicKey == signer)
        // A second rotation passes it on.
        let third = try MasterKey.random()
        let last = try KeyRing([new, third])
        try last.bind(to: row)
        let next = try last.row(for: third)
        let newest = try KeyRing([third])
        try newest.bind(to: next)
        #expect(newest.senderSecret("t", "a", .rationalOwl, "s") == secret)
        #expect(next.root != row.root)
    }

    @Test func theSealingKeyCannotBeTakenAway() throws {
        let ring = try ring()
        #expect(throws: MasterKeyError.self) { try ring.replace([new]) }
        #expect(ring.keys.map(\.id) == [old.id, new.id])
        #expect(try ring.replace([old]))
        #expect(try !ring.replace([old]))
        let many = try (0..<9).map { try MasterKey(bytes: [UInt8](repeating: UInt8($0), count: 32)) }
        #expect(throws: MasterKeyError.self) { try KeyRing(many) }
        #expect(throws: MasterKeyError.self) { try KeyRing([old, old]) }
        #expect(throws: MasterKeyError.self) { try KeyRing([]) }
    }

    // MARK: Sealing again

    @Test func everyStoredSecretIsSealedAgainOnce() throws {
        let ring = try ring()
        let webhook = WebhookID(rawValue: UUID())
        var settings = JSONObject([("z", .int(1)), ("a", "1.50")])
        settings[BindingSecrets.key] = try BindingSecrets(ring)
            .sealed(["sendKey": "s", "authKey": "t"], of: "shop", in: "acme", vendor: "upmc")
        let text = JSONWriter.bytes(.object(settings))
        let entries: [(SealedTable, SealedEntry)] = [
            (
                .credential,
                SealedEntry(parts: ["acme", "apple"], stored: try ring.seal([1], context: "credential/acme/apple"))
            ),
            (
                .webhook,
                SealedEntry(
                    parts: ["acme", webhook.description],
                    stored: try ring.seal([2], context: "webhook acme \(webhook)")
                )
            ),
            (
                .providerToken,
                SealedEntry(parts: ["T", "K", "00"], stored: try ring.seal([3], context: "provider-token/T/K"))
            ),
            (.binding, SealedEntry(parts: ["upmc", "app", "x", "", "acme", "shop"], stored: text)),
            (.binding, SealedEntry(parts: ["ipns", "app", "x", "", "acme", "shop"], stored: Array("{\"a\": 1}".utf8))),
        ]
        try ring.bind(to: try ring.row(for: new))
        let resealing = Resealing(ring)
        for (table, entry) in entries.dropLast() {
            #expect(resealing.keys(of: entry, in: table).allSatisfy { $0 == old.id })
            var again = entry
            again.stored = try #require(try resealing.resealed(entry, in: table), "\(table)")
            #expect(resealing.keys(of: again, in: table).allSatisfy { $0 == new.id })
            #expect(try resealing.resealed(again, in: table) == nil)
        }
        #expect(resealing.keys(of: entries[3].1, in: .binding).count == 2)
        #expect(try resealing.resealed(entries[4].1, in: .binding) == nil, "nothing is sealed in it")
        // Applying the same file afterwards stores the same text.
        var applied = JSONObject([("z", .int(1)), ("a", "1.50")])
        applied[BindingSecrets.key] = try BindingSecrets(ring)
            .sealed(["sendKey": "s", "authKey": "t"], of: "shop", in: "acme", vendor: "upmc")
        #expect(try resealing.resealed(entries[3].1, in: .binding) == JSONWriter.bytes(.object(applied)))
        // A secret of another key stays as it is.
        let foreign = SealedEntry(
            parts: ["acme", "apple"],
            stored: try MasterKey.random().seal([1], context: "credential/acme/apple")
        )
        #expect(resealing.keys(of: foreign, in: .credential) == [nil])
        #expect(try resealing.resealed(foreign, in: .credential) == nil)
    }

    // MARK: The file

    @Test func theFileListsOneKeyPerLine() async throws {
        let path = try file("# the first\n\(old.line)\n\n  \(new.line)  # not a comment\n")
        await #expect(throws: MasterKeyError.self) { try await MasterKeySource.file(path).keys() }
        try "# the first\n\(old.line)\n\n  \(new.line)\n#end".write(toFile: path, atomically: false, encoding: .utf8)
        #expect(try await MasterKeySource.file(path).keys().map(\.id) == [old.id, new.id])
        #expect(try MasterKeyFile(path: path).keys().map(\.form) == [.raw, .derived])
        for text in ["", "# none\n", "v3:" + old.line, old.line + "00", "v2:12"] {
            try text.write(toFile: path, atomically: false, encoding: .utf8)
            await #expect(throws: MasterKeyError.self, "\(text)") { try await MasterKeySource.file(path).ring() }
        }
        try FileManager.default.removeItem(atPath: path)
    }

    @Test func aKeyIsAddedAndRemovedWithoutTouchingTheRest() throws {
        let path = try file("# ours\n\(old.line)")
        let file = MasterKeyFile(path: path)
        try file.append(new)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "# ours\n\(old.line)\n\(new.line)\n")
        try file.remove(old.id)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "# ours\n\(new.line)\n")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let folder = (path as NSString).deletingLastPathComponent
        let rest = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
            $0.hasPrefix((path as NSString).lastPathComponent + ".new")
        }
        #expect(rest.isEmpty)
        #expect(throws: MasterKeyError.self) { try file.create(old) }
        try FileManager.default.removeItem(atPath: path)
    }

    // MARK: The command

    @Test func theOutputOfTheCommandIsTheRing() async throws {
        let command = "echo '# from the KMS'; echo \(old.line); echo \(new.line)"
        // The second one leaves a process in the background that holds the output open for longer than the command may take.
        for command in [command, "sleep 100 & \(command)"] {
            let keys = try await MasterKeySource.command(command).keys(within: .seconds(90))
            #expect(keys.map(\.id) == [old.id, new.id])
        }
    }

    @Test(arguments: [
        ("echo SECRET; exit 3", "status 3"), ("echo SECRET", "one key per line"), ("true", "one key per line"),
        ("yes SECRET", "64 KiB"), ("kill -9 $$", "status 9"),
    ])
    func aFaultOfTheCommandIsNamedWithoutItsOutput(_ command: String, _ words: String) async throws {
        let source = MasterKeySource.command(command)
        let error = await #expect(throws: MasterKeyError.self) { try await source.keys(within: .seconds(600)) }
        let text = try #require(error).description
        #expect(text.contains(words) && !text.contains("SECRET"), "\(text)")
    }

    @Test func aSlowCommandIsEnded() async throws {
        for command in ["sleep 600", "exec 1>&-; sleep 600"] {
            let started = ContinuousClock.now
            await #expect(throws: MasterKeyError.self) {
                try await MasterKeyProgram.output(of: command, within: .milliseconds(300))
            }
            #expect(ContinuousClock.now - started < .seconds(300), "\(command)")
        }
    }

    // `yes` writes too much; `wait` is cancelled.
    @Test(.timeLimit(.minutes(5)), arguments: [("yes", "64 KiB"), ("wait", "status 9")])
    func theChildrenOfTheCommandAreEndedWithIt(_ rest: String, _ words: String) async throws {
        let path = try file("")
        let run = Task {
            try await MasterKeyProgram.output(of: "sleep 600 & echo $! >'\(path)'; \(rest)", within: .seconds(600))
        }
        var child = ""
        while !child.hasSuffix("\n") {
            try await Task.sleep(for: .milliseconds(5))
            child = try String(contentsOfFile: path, encoding: .utf8)
        }
        if rest == "wait" { run.cancel() }
        let error = await #expect(throws: MasterKeyError.self) { try await run.value }
        #expect(error?.description.contains(words) == true, "\(String(describing: error))")
        // A process that has ended has no program, even if its status has not been read.
        while (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(child.dropLast())/exe")) != nil {
            try await Task.sleep(for: .milliseconds(5))
        }
        try FileManager.default.removeItem(atPath: path)
    }

    @Test func theCommandExcludesTheFile() async throws {
        let both = ["master.key.file": "/k", "master.key.command": "true"]
        let error = await #expect(throws: ConfigurationProblem.self) {
            try await GatewayConfiguration.load(flags: both, configFile: nil)
        }
        #expect(error?.description.hasPrefix("--master-key-command:") == true)
        let one = try await GatewayConfiguration.load(flags: ["master.key.command": "true"], configFile: nil)
        #expect(one.masterKeySource == .command("true"))
    }
}
