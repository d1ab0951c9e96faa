import Model
import TestKit
import Testing

@testable import Braze

/// Lines of `/users/export/segment` as devices.
struct SegmentExportTests {
    private func devices(_ line: String, _ terms: ExportTerms = ExportTerms()) throws(ExportFault)
        -> [DeviceRegistration]
    {
        try SegmentExport(Array(line.utf8)).devices(terms)
    }

    /// The documented members of a user, and two that say nothing about devices.
    private static let line = """
        {"external_id":"u-1","push_subscribe":"opted_in","time_zone":"Asia/Seoul","custom_events":[{"name":"x"}],
        "devices":[{"model":"iPhone15,2","os":"17.5"}],
        "push_tokens":[{"app":"Shop iOS","platform":"iOS","token":"0A1B2C"},
        {"app":"Shop Android","platform":"Android","token":"f:k","device_id":"D2","notifications_enabled":false},
        {"app":"Shop Web","platform":"Web","token":"https://push.example"}],
        "apps":[{"name":"Shop iOS","platform":"iOS","version":"2.4.3"}],"campaigns_received":[]}
        """

    @Test func eachTokenIsADeviceOfTheUser() throws {
        let found = try devices(Self.line, ExportTerms(environment: .sandbox))
        #expect(found.map(\.platform) == [.ios, .android])
        #expect(found.map(\.key) == [nil, "D2"] && found.allSatisfy { $0.user == "u-1" && $0.environment == .sandbox })
        #expect(found.map { $0.token?.text } == ["0a1b2c", "f:k"])
        #expect(found.map(\.imported.acceptsPush) == [true, false])
        #expect(found.map { $0.client[.appVersion] } == ["2.4.3", nil])
        #expect(found.first?.clock.timeZone?.text == "Asia/Seoul")
        #expect(try devices(Self.line) != found, "the environment is that of the terms")
        #expect(try devices(Self.line, ExportTerms(app: "Shop iOS")).map(\.platform) == [.ios])
    }

    @Test func anOptOutIsKeptAndSilenceIsNoDecision() throws {
        func accepts(_ more: String) throws -> Bool? {
            let line = #"{"external_id":"u","push_tokens":[{"platform":"iOS","token":"aa"}]\#(more)}"#
            return try devices(line).first?.imported.acceptsPush
        }
        #expect(try accepts(#","push_subscribe":"unsubscribed""#) == false)
        #expect(try accepts(#","push_subscribe":"subscribed""#) == true)
        #expect(try accepts("") == nil)
    }

    @Test(arguments: [
        #"{"external_id":"u"}"#, #"{"external_id":"u","push_tokens":[]}"#, #"{"push_tokens":null}"#, "{}",
        #"{"push_tokens":[{"platform":"Web","token":"x"}]}"#,
    ])
    func aUserWithoutAPushTokenIsNoDevice(line: String) throws {
        #expect(try devices(line).isEmpty)
    }

    @Test(arguments: [
        ("{", "is not JSON"), ("[]", "is not a JSON object"), (#"{"push_tokens":{}}"#, "push_tokens"),
        (#"{"push_tokens":[1]}"#, "push_tokens"), (#"{"push_tokens":[{"platform":"iOS","token":"xyz"}]}"#, "token"),
        (#"{"push_tokens":[{"platform":"iOS"}]}"#, "token"),
        (#"{"external_id":[],"push_tokens":[]}"#, "external_id"),
        (#"{"push_tokens":["# + Array(repeating: "{}", count: 101).joined(separator: ",") + "]}", "push_tokens"),
    ])
    func aLineThatCannotBeReadNamesItsField(line: String, start: String) {
        do throws(ExportFault) {
            _ = try devices(line)
            Issue.record("taken: \(line)")
        } catch {
            #expect(error.reason.hasPrefix(start), "\(error.reason)")
        }
    }

    @Test func changedLinesAreDevicesOrFaults() {
        var random = SplitMix(state: 3)
        let line = Array(Self.line.utf8)
        for _ in 0..<3000 {
            var changed = line
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = try? BrazeAdapter().registrations(inExport: changed, ExportTerms())
        }
    }
}
