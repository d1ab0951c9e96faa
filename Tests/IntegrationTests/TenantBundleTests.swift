import CommandSupport
import Foundation
import Model
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

    /// A damaged export is refused by the name of its file, before anything is imported.
    private func refuseDamage(_ directory: String, _ world: World) async throws {
        let name = try #require(try files(directory).keys.sorted().first)
        let url = URL(filePath: "\(directory)/\(name)")
        let whole = try Data(contentsOf: url)
        var changed = whole
        changed[changed.count / 2] ^= 1
        try changed.write(to: url)
        let flipped = try await world.command(["tenant", "import", directory, "--tenant", "acme"])
        #expect(flipped.status == 2 && flipped.log.contains("\(name) was changed"), "\(flipped.log)")
        try FileManager.default.removeItem(at: url)
        let missing = try await world.command(["tenant", "import", directory, "--tenant", "acme"])
        #expect(missing.status == 2 && missing.log.contains("\(name) is missing"), "\(missing.log)")
        try whole.write(to: url)
        let manifest = URL(filePath: "\(directory)/manifest.json")
        let text = try String(contentsOf: manifest, encoding: .utf8)
        try text.replacing("\"version\":2", with: "\"version\":3").write(
            to: manifest,
            atomically: true,
            encoding: .utf8
        )
        let newer = try await world.command(["tenant", "import", directory, "--tenant", "acme"])
        #expect(newer.status == 2 && newer.log.contains("has version 3"), "\(newer.log)")
        try text.write(to: manifest, atomically: true, encoding: .utf8)
        let stranger = try await world.command(["tenant", "import", directory, "--tenant", "nobody"])
        #expect(stranger.status == 1 && stranger.log.contains("has no app"), "\(stranger.log)")
    }
}
