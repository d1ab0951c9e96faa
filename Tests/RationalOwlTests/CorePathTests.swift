import Coverage
import HTTPTypes
import Model
import RationalOwl
import Testing

/// The core's own API. The gateway supports only the registration of servers; every other call is refused in the
/// core's shape.
struct CorePathTests {
    private static let parts = ["/deviceGroup/", "/downstream/", "/custompush/", "/tracking/", "/sync/"]

    /// The calls of the catalog that are not supported.
    private static func unanswered() throws -> [String] {
        let calls = (try Fixture.json("catalogue.json")["calls"]?.array ?? []).compactMap(\.string)
        return calls.filter { call in call == "/server/unregister/" || parts.contains { call.hasPrefix($0) } }
    }

    private func refused(_ path: String) throws {
        for body in ["{\"serviceId\":\"S\"}", "", "{", "null"] {
            for method in [.post, .get, .delete] as [HTTPRequest.Method] {
                let request = Mount.request(path, method: method, body: Array(body.utf8))
                #expect(request.route != "none", "\(path) reaches no adapter")
                #expect(throws: AdapterError.self) { try Mount.adapter.locate(request) }
                let response = Mount.answer(request, .refused(.unknownBinding))
                #expect(response.status == 404)
                #expect(try Mount.body(response) == ["error": "no such path"], "\(path)")
            }
        }
    }

    @Test(
        .covers(
            "rationalowl",
            "/server/unregister/",
            "/deviceGroup/create/",
            "/deviceGroup/add/",
            "/deviceGroup/subtract/",
            "/deviceGroup/remove/",
            "/downstream/multicast/",
            "/downstream/broadcast/",
            "/downstream/group/",
            "/custompush/multicast/",
            "/custompush/broadcast/",
            "/custompush/group/",
            "/custompush/retry/",
            "/tracking/msgStats/",
            "/tracking/msgDevices/",
            "/tracking/msgDeviceDetail/",
            "/tracking/msgDetail/",
            "/tracking/batchMsgDevices/",
            "/tracking/batchMsgDeviceDetail/",
            "/sync/deviceIds/",
            "/sync/groupDeviceIds/",
            "/sync/deleteDevices/",
            refused: #"404 `{"error":"no such path"}`"#
        )
    )
    func documentedCallsWithoutAnAnswerAreRefused() throws {
        let paths = try Self.unanswered()
        #expect(paths.count == 21)
        for path in paths {
            try refused(path)
            try refused(String(path.dropLast()))
        }
    }

    @Test(arguments: [
        "/server/x", "/tracking/x/y", "/sync/x", "/custompush/unicast/", "/deviceGroup/x", "/downstream/x",
    ])
    func undocumentedPathsAreRefusedEqually(_ path: String) throws { try refused(path) }
}
