import AnswerShapes
import AudienceStore
import Commands
import GatewayHTTP
import Hummingbird
import Model
import Store

/// `/v1/apps/{app}/senders`: the back ends that registered to send, through whichever vendor's API.
enum SenderOperations {
    static let all = [list]

    struct ListInput: InputFields {
        let app = CommonInputs.app
        let after = QueryField.optional(
            "after",
            InputKind<String>.text(1024, atLeast: 1).example("native:bank-core")
                .map("must be `next` of a page") { ListedSender.Place(text: $0) },
            "`next` of the previous page."
        )
        let limit = CommonInputs.limit
    }

    static let list = NativeOperation(
        "listSenders",
        .get,
        "/v1/apps/{app}/senders",
        scope: .admin,
        "List the back ends that registered to send, by vendor and name.",
        input: ListInput(),
        answers: [.json(SenderShapes.page.schema, "A page of senders.")],
        problems: [.notFound],
        NativeAPI.listSenders
    )
}

extension NativeAPI {
    func listSenders(_ call: NativeCall<SenderOperations.ListInput>) async throws(Problem) -> Response {
        let (app, limit) = (try call.app, try call.limit)
        let list = ListSenders(app, after: try call.after, limit: limit)
        try await known(app, call.caller)
        let page = try await asked { () async throws(StoreError) in
            try await handler.run(StoreRequest(list) { $0 }, in: call.tenant)
        }
        return .json(SenderShapes.page.json(page, limit: limit) { .string($0.place.text) })
    }
}
