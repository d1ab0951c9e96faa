import Model
import TestKit
import Testing

@testable import UPMC

/// Mutations of documented requests: none traps, only sends name targets, and the content of every accepted send survives the vendor's own server.
/// Bounded by a fifth of `GATEWAY_FUZZ_COUNT`, because the mutation tests of each adapter read the same requests; the seed is in the failure.
struct UpstreamMutationTests {
    @Test(arguments: MutationTests.forms.keys.sorted { $0.rawValue < $1.rawValue })
    func mutatedRequestsAreReadAndSurvive(_ endpoint: UPMCCall) throws {
        let form = try #require(MutationTests.forms[endpoint])
        let object = JSONObject(
            form.split(separator: "&").map { pair in
                let halves = pair.split(separator: "=", maxSplits: 1)
                return (String(halves[0]), JSON.string(halves.count > 1 ? String(halves[1]) : ""))
            }
        )
        var mutator = Mutator(
            seed: Fuzz.seed ^ UInt64(endpoint.rawValue.utf8.count),
            known: [
                "GUEST", "A", "G", "%25EA%25B0%2580", "50%2525off", "[a,b]", "{}", "{\"title\":\"\",\"body\":\"b\"}",
            ]
        )
        for index in 0..<(Fuzz.count / 5) {
            let request = MutationTests.request(endpoint, object, Array(form.utf8), index, &mutator)
            let settings = Mount.settings(UPMCVersion.allCases[index % UPMCVersion.allCases.count].rawValue)
            let fault =
                UpstreamContract.fault(Mount.adapter, request, settings) ?? Self.survivalFault(request, settings)
            if let fault {
                let body = String(decoding: request.body, as: UTF8.self)
                Issue.record("seed \(Fuzz.seed), mutation \(index): \(fault) of \(body)")
                return
            }
        }
    }

    private static func survivalFault(_ request: VendorRequest, _ settings: BindingSettings) -> String? {
        let commands = (try? Mount.adapter.decode(request, settings: settings)) ?? []
        guard case .submission(.submit(var sent))? = commands.first else { return nil }
        // The contract requires a service code; a call without one is sent with the code of all.
        if sent.content.data["serviceCode"] == nil { sent.content.data["serviceCode"] = "ALL" }
        // Text messages are requested for whole users only.
        let data = sent.content.data
        let isPaid = data["smsOnFailure"] != nil || data["smsReadWait"] != nil
        return UpstreamContract.survivalFault(
            of: sent,
            Mount.adapter,
            through: isPaid ? UpstreamSendTests.byUser : UpstreamSendTests.byDevice,
            to: UpstreamSendTests.target("hong", token: 1, variables: sent.numbering?.variables.first?.values ?? [:]),
            settings: settings
        )
    }
}
