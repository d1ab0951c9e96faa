import Model
import Testing

@testable import push_gateway

/// The screen of `routes parity`.
@Suite struct ParityScreenTests {
    private func text(_ answer: String) throws -> String { RoutesCommand.Parity.text(try JSONParser.parse(answer)) }

    @Test func devicesAndReceiptsFollowTheMetrics() throws {
        let shown = try text(
            """
            {"since":"2026-11-22T05:00:00.000Z","metrics":[{"metric":"reach","samples":1000,"differences":0,"agreement":1}],
            "samples":[],"devices":[{"vendor":"upmc","at":"2026-11-23T01:00:00.000Z","ageSeconds":14707,"usable":true,
            "difference":0.125,"compared":200,"samples":[{"difference":"token","key":"…504f"}]}],
            "receipts":[{"vendor":"upmc","ratio":0.975,"accepted":400,"received":195,"vendorAccepted":200,"vendorReceived":100}]}
            """
        )
        let at = "2026-11-23T01:00:00.000Z"
        #expect(
            shown.split(separator: "\n").suffix(3) == [
                "devices  upmc  12.500 % of 200 differ  \(at) (4 h ago)", "\(at)  devices  upmc …504f  token",
                "receipts  upmc  97.500 %  gateway 195 of 400, vendor 100 of 200 pushes received",
            ]
        )
    }

    // No data is not agreement.
    @Test func missingAndOldDataAreNamed() throws {
        let none = try text(#"{"since":"S","metrics":[],"samples":[],"devices":[],"receipts":[]}"#)
        #expect(none.contains("no observed calls since S") && none.contains("devices  not compared"))
        #expect(none.contains("receipts  no dialect with pushes of both sides"))
        let old = try text(
            #"{"metrics":[],"devices":[{"vendor":"upmc","ageSeconds":90000,"usable":false,"difference":0,"compared":9}]}"#
        )
        #expect(old.contains("0.000 % of 9 differ") && old.contains("(25 h ago; no data for gates"))
    }
}
