import Foundation
import Model
import TestKit
import Testing
import TransferStore

@testable import Imports

/// The manifest and the lines of a tenant's export.
@Suite struct BundleManifestTests {
    private let content = Array("{\"key\":\"a\"}\n{\"key\":\"b\"}\n".utf8)

    private func file(_ number: Int = 1) -> BundleManifest.File {
        var meter = BundleMeter()
        meter.add(content)
        return BundleManifest.File(
            kind: .devices,
            app: "shop",
            vendor: .native,
            name: BundleManifest.name(.devices, number),
            rows: meter.rows,
            size: meter.size,
            digest: meter.digest
        )
    }

    private func fault(_ body: () throws(BundleManifest.Fault) -> Void) -> String? {
        do throws(BundleManifest.Fault) {
            try body()
            return nil
        } catch {
            return error.what
        }
    }

    @Test func aManifestIsReadAsItWasWrittenAndEveryChangeIsFound() throws {
        let manifest = BundleManifest(asOf: Timestamp(milliseconds: 1_790_000_000_123), files: [file(1), file(2)])
        let bytes = Array(manifest.text.utf8)
        #expect(try BundleManifest(bytes) == manifest)
        for place in bytes.indices.dropLast() {
            var changed = bytes
            changed[place] ^= 1
            let read = try? BundleManifest(changed)
            #expect(read == nil, "byte \(place)")
        }
        #expect(throws: BundleManifest.Fault.self) { try BundleManifest(Array(bytes.dropLast(2))) }
    }

    @Test func anotherVersionIsNamed() {
        let text = BundleManifest(asOf: Timestamp(milliseconds: 0)).text.replacing(
            "\"version\":2",
            with: "\"version\":3"
        )
        let what = fault { () throws(BundleManifest.Fault) in _ = try BundleManifest(Array(text.utf8)) }
        #expect(what == "manifest.json has version 3; this program reads versions 1 to 2")
        for text in ["", "{}", "[]", #"{"format":"x","version":1}"#] {
            let what = fault { () throws(BundleManifest.Fault) in _ = try BundleManifest(Array(text.utf8)) }
            #expect(what?.hasPrefix("manifest.json") == true)
        }
    }

    @Test func aMissingOrChangedFileIsNamed() throws {
        let folder = "\(ScratchFolder.root)/push-gateway-bundle-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let manifest = BundleManifest(asOf: Timestamp(milliseconds: 0), files: [file()])
        let path = "\(folder)/devices-1.ndjson"
        func check() -> String? {
            fault { () throws(BundleManifest.Fault) in try manifest.check(in: folder) }
        }
        #expect(check() == "devices-1.ndjson is missing")
        try Data(content).write(to: URL(filePath: path))
        #expect(check() == nil)
        for place in content.indices {
            var changed = content
            changed[place] ^= 1
            try Data(changed).write(to: URL(filePath: path))
            #expect(check() == "devices-1.ndjson was changed: its digest is another one", "byte \(place)")
        }
        try Data(content.dropLast()).write(to: URL(filePath: path))
        #expect(check() == "devices-1.ndjson has 23 bytes, not 24")
        var other = file()
        other.rows = 3
        try Data(content).write(to: URL(filePath: path))
        let counted = BundleManifest(asOf: manifest.asOf, files: [other])
        let what = fault { () throws(BundleManifest.Fault) in try counted.check(in: folder) }
        #expect(what == "devices-1.ndjson has 2 rows, not 3")
    }

    @Test(arguments: ["devices-1.ndjson", "users-20.ndjson", "groups-300.ndjson"])
    func namesOfFilesAreAllowed(name: String) {
        #expect(BundleManifest.isName(name))
    }

    @Test(arguments: ["../devices-1.ndjson", "/etc/passwd", "devices-.ndjson", "devices-1.json", "other-1.ndjson", ""])
    func noNameLeadsOutOfTheDirectory(name: String) {
        #expect(!BundleManifest.isName(name))
    }

    @Test func usersAndGroupsAreReadAsTheyWereWritten() throws {
        var user = ImportedUser(user: "u \"1\"")
        #expect(try UserLine.user(Array(UserLine.text(user).utf8)) == user)
        (user.isAnonymous, user.isOptedIn, user.acceptsPush) = (true, true, false)
        user.attributes = ["a": [1, "x"], "b": .null]
        user.consents = [
            RecordedConsent(subject: "news", state: .unsubscribed),
            RecordedConsent(subject: "sale", state: .subscribed, at: Timestamp(milliseconds: 250), source: "crm"),
        ]
        user.aliases = [UserAlias(label: "l", name: "n")]
        #expect(try UserLine.user(Array(UserLine.text(user).utf8)) == user)
        for part in [
            GroupLine.Part("g 1", members: ["u1", "u2"]), GroupLine.Part("12", title: "VIP \"1\"", members: []),
        ] {
            #expect(try GroupLine.part(Array(GroupLine.text(part).utf8)) == part)
        }
    }

    @Test(arguments: [
        ("{}", "user"), (#"{"user":"u","colour":1}"#, "'colour'"), (#"{"user":"u","attributes":1}"#, "attributes"),
        (#"{"user":"u","acceptsPush":"x"}"#, "acceptsPush"), (#"{"user":"u","aliases":[1]}"#, "aliases"),
        (#"{"user":"u","consents":{"a":"b"}}"#, "consents"), (#"{"user":"u\u0000"}"#, "user"), ("x", "is not JSON"),
    ])
    func aWrongUserNamesItsField(line: String, start: String) {
        do throws(DeviceLine.Fault) {
            _ = try UserLine.user(Array(line.utf8))
            Issue.record("taken: \(line)")
        } catch {
            #expect(error.reason.hasPrefix(start), "\(error.reason)")
        }
    }

    @Test(arguments: ["{}", #"{"group":"g"}"#, #"{"group":"","members":[]}"#, #"{"group":"g","members":[1]}"#])
    func aWrongGroupIsAFault(line: String) {
        #expect(throws: DeviceLine.Fault.self) { try GroupLine.part(Array(line.utf8)) }
    }

    @Test func unreadMessagesAreReadAsTheyWereWritten() throws {
        let due = try #require(Timestamp(rfc3339: "2026-03-02T01:00:00.250Z"))
        let id = try #require(MessageID(text: "0198a1f0-7c00-7000-8000-000000000001"))
        var content = Content(title: "t", body: "b \"q\"")
        content.media = MediaReference(id: "m", hash: "h")
        let whole = UnreadMessage(
            key: "k1",
            message: id,
            number: "1151",
            content: content,
            collapseID: "c",
            dueAt: due,
            expiresAt: due + .seconds(60),
            variables: ["name": "Mina"]
        )
        // Images stay at the first gateway.
        #expect(whole.content.media == nil)
        let plain = UnreadMessage(key: "k2", message: id, content: Content(body: "b"), dueAt: due, expiresAt: due)
        for message in [whole, plain] {
            let text = InboxLine.text(message)
            let read = try InboxLine.message(Array(text.utf8))
            #expect(read == message)
            #expect(InboxLine.text(read) == text)
        }
        for text in [
            "{}", #"{"key":"k"}"#, #"{"key":"k","message":"x"}"#, "[]", "no",
            #"{"key":"k","message":"0198a1f0-7c00-7000-8000-000000000001","content":{},"dueAt":"soon"}"#,
            #"{"other":1}"#,
        ] {
            #expect(throws: DeviceLine.Fault.self, "\(text)") { try InboxLine.message(Array(text.utf8)) }
        }
    }
}
