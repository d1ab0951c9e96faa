import AnswerShapes
import Explain
import GatewayHTTP
import Hummingbird
import Model
import Store

/// `/v1/devices/{device}/diagnosis`: why pushes reach a device, or why not.
enum DiagnosisOperations {
    static let all = [diagnose]

    struct Input: InputFields {
        let device = DeviceOperations.id
        let lane = QueryField.optional(
            "lane",
            .lane,
            default: .bulk,
            as: "bulk",
            "The lane of the message: hours, caps and levels depend on it. Bulk messages have the most conditions."
        )
    }

    static let diagnose = NativeOperation(
        "diagnoseDevice",
        .get,
        "/v1/devices/{device}/diagnosis",
        scope: .read,
        "Show each condition for pushes to a device: whether it is met, since when, and the recommended action.",
        input: Input(),
        answers: [.json(DeviceDiagnosis.shape.schema, "The diagnosis.")],
        problems: [.notFound],
        NativeAPI.diagnoseDevice
    ).audited(.read)
}

extension InputKind where Value == Lane {
    static let lane = InputKind<String>.word(among: Lane.allCases.map { "\($0)" }).map("is not a lane") {
        text in Lane.allCases.first { "\($0)" == text }
    }
}

extension NativeAPI {
    func diagnoseDevice(_ call: NativeCall<DiagnosisOperations.Input>) async throws(Problem) -> Response {
        let id = try call.device
        let lane = try call.lane
        let diagnoser = DeviceDiagnoser(
            devices: devices,
            directory: explainer.directory,
            dialects: explainer.adapters.mapValues(\.reports)
        )
        let diagnosis = try await asked { () async throws(StoreError) in
            try await diagnoser.diagnose(id, in: call.tenant, lane: lane)
        }
        guard let diagnosis else { throw .notFound("no such device") }
        call.found(1)
        return .json(DeviceDiagnosis.shape.json(diagnosis))
    }
}
