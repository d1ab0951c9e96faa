import CallAudit
import EngineStore
import Foundation
import Model
import Store
import Testing

@testable import Gateway
@testable import NativeHTTP

/// The parts of the push of the audit: addresses, messages, what counts as arrived, and the gate for administrative calls.
@Suite struct AuditSyslogTests {
    @Test(
        arguments: [
            ("tcp://siem.example:514", SyslogAddress.stream(host: "siem.example", port: 514, isEncrypted: false)),
            ("tls://10.0.0.1:6514", .stream(host: "10.0.0.1", port: 6514, isEncrypted: true)),
            ("tls://[2001:db8::1]:6514", .stream(host: "2001:db8::1", port: 6514, isEncrypted: true)),
            ("unix:/dev/log", .datagram(path: "/dev/log")),
        ]
    )
    func addressesAreReadAndWritten(_ text: String, _ address: SyslogAddress) {
        #expect(SyslogAddress(text) == address)
        #expect(address.description == text)
    }

    @Test(
        arguments: [
            "", "siem:514", "udp://siem:514", "tcp://siem", "tcp://siem:0", "tcp://siem:65536", "tcp://:514",
            "unix:log",
            "tcp://siem:514/x", "tcp://user@siem:514", "unix:/" + String(repeating: "x", count: 108),
        ]
    )
    func otherTextsAreNotAddresses(_ text: String) { #expect(SyslogAddress(text) == nil) }

    private func link(_ action: String = "write", data: String? = #"{"a":"é"}"#) -> AuditLink {
        AuditLink(
            position: 7,
            micros: 1_700_000_000_123_456,
            actor: "key:crm",
            action: action,
            subject: "app shop",
            data: data,
            hash: [0xAB]
        )
    }

    // RFC 5424, section 6, and RFC 6587, section 3.4.1; the expected text is written by hand.
    @Test func aRowIsAMessageOfRFC5424() throws {
        let messages = SyslogMessage(host: "node 1", process: 42)
        let text = messages.text(link(), "acme")
        let head = "<109>1 2023-11-14T22:13:20.123Z node1 push-gateway 42 write - "
        #expect(text.hasPrefix(head), "\(text)")
        let body = try JSONParser.parse(Array(text.dropFirst(head.count).utf8))
        #expect(body["tenant"] == "acme" && body["position"] == 7 && body["subject"] == "app shop")
        #expect(body["micros"] == 1_700_000_000_123_456 && body["hash"] == "ab")
        #expect(body["data"] == #"{"a":"é"}"#)
        #expect(messages.frame(link(), "acme") == "\(text.utf8.count) \(text)")
        #expect(text.utf8.count > text.count, "bytes are counted, not characters")
        // Refused proofs are warnings. Text that is not printable ASCII cannot break the header.
        #expect(messages.text(link("refuse"), "acme").hasPrefix("<108>1 "))
        let odd = SyslogMessage(host: "\n", process: 1).text(link("a b\n\(String(repeating: "x", count: 99))"), "t")
        #expect(
            odd.hasPrefix("<109>1 2023-11-14T22:13:20.123Z - push-gateway 1 ab\(String(repeating: "x", count: 30)) - {")
        )
        #expect(!odd.contains("\n"))
    }

    @Test func rowsArriveWhenTheConnectionStaysOpen() {
        var progress = PushProgress(confirmSeconds: 6)
        #expect(progress.start("a", after: 3) == 3)
        progress.written("a", upTo: 5, at: 0)
        progress.written("b", upTo: 9, at: 1)
        progress.written("a", upTo: 7, at: 2)
        #expect(progress.start("a", after: 3) == 7, "the next page follows what was written")
        #expect(progress.arrived(at: 5.9).isEmpty)
        #expect(progress.arrived(at: 6) == ["a": 5])
        #expect(progress.arrived(at: 8) == ["a": 7, "b": 9])
        #expect(progress.arrived(at: 99).isEmpty)
        #expect(progress.start("a", after: 8) == 8)
        // A new connection knows nothing of the old one: what had not arrived is sent again.
        #expect(PushProgress(confirmSeconds: 6).start("a", after: 5) == 5)
    }

    @Test func thePagesThatWaitAreBounded() {
        var progress = PushProgress(confirmSeconds: 6)
        for number in 0..<PushProgress.limit {
            #expect(!progress.isFull)
            progress.written("a", upTo: Int64(number), at: 0)
        }
        #expect(progress.isFull)
        _ = progress.arrived(at: 6)
        #expect(!progress.isFull)
    }

    @Test func theGateClosesAboveTheLimitAndBeforeTheFirstMeasurement() {
        let gate = AuditGate(limitSeconds: 60)
        #expect(gate.isClosed, "nothing is known")
        #expect(!gate.measured(60) && !gate.isClosed)
        #expect(gate.measured(61) && gate.isClosed)
        #expect(!gate.measured(100) && gate.isClosed, "it was closed already")
        #expect(!gate.measured(0) && !gate.isClosed)
        let open = AuditGate(limitSeconds: nil)
        #expect(!open.isClosed)
        #expect(!open.measured(1e9) && !open.isClosed)
    }

    @Test func onlyAuditedActsAndReadsAreAdministrative() {
        let names = Set(NativeOperations.all.filter(\.isAdministrative).map(\.id))
        #expect(names.isSuperset(of: ["eraseUser", "createWebhook", "listDevices", "listMessages", "importDevices"]))
        #expect(
            names.isDisjoint(with: ["sendMessage", "cancelMessage", "registerDevice", "reportReceipt", "listApps"])
        )
    }

    @Test(
        arguments: [
            ["audit.syslog": "siem:514"], ["audit.lag.seconds": "60"],
            ["audit.lag.seconds": "59", "audit.file": "a"], ["audit.lag.seconds": "soon", "audit.file": "a"],
        ]
    )
    func unusableSettingsAreRefused(_ flags: [String: String]) async {
        await #expect(throws: ConfigurationProblem.self) {
            try await GatewayConfiguration.load(flags: flags, configFile: nil)
        }
    }

    @Test func theSettingsAreRead() async throws {
        let flags = ["audit.syslog": "unix:/dev/log", "audit.lag.seconds": "300", "audit.file": "a"]
        let read = try await GatewayConfiguration.load(flags: flags, configFile: nil)
        #expect(read.auditSyslog == .datagram(path: "/dev/log") && read.auditLagSeconds == 300)
        #expect(read.auditCopies == [.file, .collector])
    }
}
