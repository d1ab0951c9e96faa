import HTTPTypes
import Model
import TestKit
import Testing

@testable import NotificationHubs

/// Lines of the vendor's export job as devices.
struct RegistrationExportTests {
    private static let space = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"

    private func devices(_ line: String, _ terms: ExportTerms = ExportTerms()) throws(ExportFault)
        -> [DeviceRegistration]
    {
        [try ExportedRegistration(Array(line.utf8)).device(terms)]
    }

    private func line(
        _ tags: String,
        kind: String = "AppleRegistrationDescription",
        id: String = "<RegistrationId>77-88-1</RegistrationId>",
        channel: String = "<DeviceToken>\(Fixture.token)</DeviceToken>"
    ) -> String {
        "<\(kind) xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns=\"\(Self.space)\"><ETag>3</ETag>"
            + "<ExpirationTime>9999-12-31T23:59:59.999Z</ExpirationTime>\(id)<Tags>\(tags)</Tags>\(channel)</\(kind)>"
    }

    /// The stored attributes are those of the same registration by a call.
    @Test func aRegistrationIsStoredAsAfterItsCall() throws {
        let store = StoredRegistrations()
        let body = line("Seoul,shop:vip")
        let request = Mount.request(.put, "/hub1/registrations/77-88-1", body, at: Mount.now)
        #expect(store.answer(request).status == 200)
        let found = try #require(try devices(body, ExportTerms(asOf: Mount.now)).first)
        let stored = try #require(store.registered.first)
        #expect(found.key == stored.key && found.token == stored.token && found.attributes == stored.attributes)
        #expect(Set(found.tags ?? []) == Set(stored.tags ?? []))
        #expect(try devices(body) == devices(body), "the same line gives the same device")
    }

    @Test func anInstallationIsStoredAsAfterItsCall() throws {
        let tags = "$InstallationId:{i-1},news,$UserId:{kim}"
        let found = try #require(try devices(line(tags)).first)
        let installation = try Installation(
            id: "i-1",
            ["platform": "apns", "pushChannel": .string(Fixture.token), "userId": "kim", "tags": ["news"]]
        )
        let wanted = installation.registration(nil)
        #expect(found.key == "i-1" && found.user == "kim" && found.attributes == wanted.attributes)
        #expect(found.tags == wanted.tags && found.token == wanted.token)
        let android = line(
            tags,
            kind: "FcmV1RegistrationDescription",
            channel: "<FcmV1RegistrationId>f:k</FcmV1RegistrationId>"
        )
        #expect(try devices(android).map(\.platform) == [.android])
    }

    @Test(arguments: [
        ("<a", "is not XML"), ("{}", "is not XML"),
        ("<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>", "contains a document"),
        ("<a>&xxe;</a>", "contains a document"), ("<MpnsRegistrationDescription/>", "has no RegistrationId"),
        (String(repeating: "<a>", count: 100), "is longer than"),
    ])
    func aLineThatCannotBeReadSaysWhy(line: String, start: String) {
        do throws(ExportFault) {
            _ = try devices(line)
            Issue.record("taken: \(line)")
        } catch {
            #expect(error.reason.hasPrefix(start), "\(error.reason)")
        }
    }

    @Test func otherKindsAreFaults() {
        let template = line("$InstallationId:{i-1}", kind: "AppleTemplateRegistrationDescription")
        for line in [
            template, line("", kind: "MpnsRegistrationDescription"), line("", id: ""), line("", channel: ""),
            line("$InstallationId:{a b}"), line("a b"), line("$InstallationId:{i-1}", channel: ""),
            String(decoding: [0x3C, 0x61, 0x3E], as: UTF8.self) + String(repeating: "x", count: 70_000) + "</a>",
        ] {
            #expect(throws: ExportFault.self, "\(line.prefix(200))") { try devices(line) }
        }
        #expect(throws: ExportFault("is not XML in UTF-8")) {
            try HubsAdapter().registrations(inExport: [0x3C, 0x61, 0x3E, 0xC8, 0x3C, 0x2F, 0x61, 0x3E], ExportTerms())
        }
    }

    @Test func changedLinesAreDevicesOrFaults() {
        var random = SplitMix(state: 4)
        let line = Array(line("$InstallationId:{i-1},news,$UserId:{kim}").utf8)
        for _ in 0..<2000 {
            var changed = line
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = try? HubsAdapter().registrations(inExport: changed, ExportTerms())
        }
    }
}
