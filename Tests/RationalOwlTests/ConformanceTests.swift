import HTTPTypes
import Model
import RationalOwl
import TestKit
import Testing

/// The rules of every adapter, for RationalOwl.
struct ConformanceTests {
    static func subject() throws -> AdapterUnderTest {
        let requests = try DocumentedRequestTests.commands.keys.sorted().map { try Mount.documented($0) }
        // These calls have no example (docs/contracts/rationalowl.md#7.4), only a line of a table each.
        let shim: [(String, JSON)] = [
            ("device/token", ["tk": .string(String(repeating: "ab", count: 32)), "env": "dev"]),
            ("device/unregister", [:]), ("device/state", ["state": "active"]),
            ("noti/delivered", ["mId": .string(Sample.messageText)]),
            ("noti/opened", ["mId": .string(Sample.messageText)]),
        ]
        let calls = shim.map { path, fields in
            var body = keyed(fields)
            body["sId"] = .string(Sample.service)
            body["dRId"] = .string(Sample.device)
            return Mount.request("/ro/v1/\(path)", body: JSONWriter.bytes(.object(body)))
        }
        return AdapterUnderTest(
            adapter: RationalOwlAdapter(),
            settings: BindingSettings(),
            documented: requests + calls,
            catchAll: Set(Surface.allCases.map { "\($0.rawValue).unknown" }),
            fault: fault
        )
    }

    /// An unknown path gets the short error of its API, every other path the shape of its call; 404, 405 and 408 are
    /// allowed in addition to the statuses of `Shape`.
    @Sendable static func fault(_ response: VendorResponse, _ request: VendorRequest) -> String? {
        let isCall = RationalOwlCall(rawValue: request.route) != nil
        let isTransport = [404, 405, 408, 413, 429].contains(response.status)
        guard isCall, !isTransport else {
            guard isTransport || [200, 400].contains(response.status) else { return "status \(response.status)" }
            if response.headers[.contentType] == "text/plain; charset=utf-8" {
                return request.route == "notiRead" ? nil : "text"
            }
            guard let body = (try? JSONParser.parse(response.body))?.object else { return "no object" }
            return body.pairs.contains { $0.value == .null } ? "a null" : nil
        }
        if request.route == "notiRead", response.headers[.contentType] == "application/json; charset=utf-8" {
            // A receipt without a result gets the short error of its API.
            return (try? JSONParser.parse(response.body))?.object.map { Set($0.keys) } == ["rc", "cmt"] ? nil : "keys"
        }
        return Shape(endpoint: request.route).fault(response)
    }

    @Test(arguments: AdapterContract.rules)
    func rationalOwlKeepsTheAdaptersRules(_ rule: AdapterRule) throws {
        #expect(rule.faults(try Self.subject()) == [])
    }
}
