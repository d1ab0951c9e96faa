import AnswerShapes
import DeliveryEngine
import EngineStore
import GatewayHTTP
import Hummingbird
import Model
import Store

/// `/v1/nodes`, `/v1/queue` and `/v1/apps/{app}/bindings`: what an operator looks at.
enum OperatorOperations {
    static let all = [showBindings, showQueue, listNodes]

    struct PageInput: InputFields {
        let after = CommonInputs.afterName
        let limit = CommonInputs.limit
    }

    struct AppInput: InputFields {
        let app = CommonInputs.app
    }

    static let showBindings = NativeOperation(
        "showBindings",
        .get,
        "/v1/apps/{app}/bindings",
        scope: .admin,
        "Show an app's bindings to vendors, without their secrets.",
        input: AppInput(),
        answers: [.json(OperatorShapes.bindings.schema, "The bindings.")],
        problems: [.notFound],
        NativeAPI.showBindings
    )

    static let showQueue = NativeOperation(
        "showQueue",
        .get,
        "/v1/queue",
        scope: .read,
        "Show the tenant's queue by lane.",
        input: NoInput(),
        answers: [.json(OperatorShapes.queue.schema, "The queue.")],
        NativeAPI.showQueue
    )

    static let listNodes = NativeOperation(
        "listNodes",
        .get,
        "/v1/nodes",
        scope: .admin,
        "List the nodes of the gateway by id.",
        input: PageInput(),
        answers: [.json(OperatorShapes.nodes.schema, "A page of nodes.")],
        NativeAPI.listNodes
    )
}

extension NativeAPI {
    func showBindings(_ call: NativeCall<OperatorOperations.AppInput>) async throws(Problem) -> Response {
        let app = try call.app
        try await known(app, call.caller)
        let bindings = try await asked { () async throws(StoreError) in
            try await stores.operators.bindings(of: app, in: call.tenant)
        }
        return .json(OperatorShapes.bindings.json(bindings))
    }

    func showQueue(_ call: NativeCall<NoInput>) async throws(Problem) -> Response {
        let queue = try await asked { () async throws(StoreError) in
            try await stores.operators.queue(of: call.tenant)
        }
        return .json(OperatorShapes.queue.json(queue))
    }

    func listNodes(_ call: NativeCall<OperatorOperations.PageInput>) async throws(Problem) -> Response {
        let after = try call.after
        let limit = try call.limit
        let nodes = try await asked { () async throws(StoreError) in
            try await stores.operators.nodes(after: after, limit: limit)
        }
        return .json(OperatorShapes.nodes.json(nodes, limit: limit) { .string($0.id.rawValue) })
    }
}
