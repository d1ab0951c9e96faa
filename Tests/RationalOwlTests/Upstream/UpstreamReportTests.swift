import Model
import RationalOwl
import Testing

/// The tracking callback, as the vendor calls the gateway (docs/contracts/rationalowl.md#8.6).
struct UpstreamReportTests {
    private func reports(_ body: String) -> [UpstreamReport]? {
        Mount.adapter.reports(
            in: VendorRequest(route: "report", path: "/upstream/x", body: Array(body.utf8)),
            settings: UpstreamSettings(vendor: .rationalOwl)
        )
    }

    @Test func deliveredAndReadTargetsAreReceipts() {
        let body = """
            [{"mId":"m-1","ds":[{"dId":"d-1","p":{"s":3,"st":1731999999123,"nt":1732000000456}},\
            {"dId":"d-2","p":{"s":4,"st":1731999999123,"nt":1732000000456,"rt":1732000100789}}]},\
            {"mId":"m-2","ds":[{"dId":"d-1","p":{"s":"4","nt":"1732000000456"}}]}]
            """
        #expect(
            reports(body) == [
                UpstreamReport(
                    reference: "m-1",
                    device: "d-1",
                    kind: .received,
                    at: Timestamp(milliseconds: 1_732_000_000_456)
                ),
                UpstreamReport(
                    reference: "m-1",
                    device: "d-2",
                    kind: .read,
                    at: Timestamp(milliseconds: 1_732_000_100_789)
                ),
                UpstreamReport(
                    reference: "m-2",
                    device: "d-1",
                    kind: .read,
                    at: Timestamp(milliseconds: 1_732_000_000_456)
                ),
            ]
        )
    }

    @Test(arguments: [1, 2, 5, 6, 9, -1])
    func otherStatesAreNoReceipts(_ state: Int) {
        #expect(reports(#"[{"mId":"m","ds":[{"dId":"d","p":{"s":\#(state),"nt":1}}]}]"#) == [])
    }

    // A phone names targets of other back ends: the gateway sends to devices.
    @Test(arguments: [
        #"[{"mId":"m","ds":[{"pn":"01022222222","p":{"s":4}}]}]"#, #"[{"ds":[{"dId":"d","p":{"s":4}}]}]"#,
        #"[{"mId":"m","ds":[{"dId":"d"}]}]"#, #"[{"mId":"m"}]"#, "[]", #"[1,"a",null,{"mId":1}]"#,
    ])
    func whatNamesNoDeviceOfTheGatewayIsLeftOut(_ body: String) { #expect(reports(body) == []) }

    @Test(arguments: ["", "{}", "[", "report", #"{"mId":"m"}"#])
    func anotherBodyIsNotAReport(_ body: String) { #expect(reports(body) == nil) }

    @Test func aTimeOfZeroIsNone() {
        let found = reports(#"[{"mId":"m","ds":[{"dId":"d","p":{"s":3,"nt":0}}]}]"#)
        #expect(found == [UpstreamReport(reference: "m", device: "d", kind: .received)])
    }
}
