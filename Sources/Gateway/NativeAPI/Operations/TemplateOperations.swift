import AnswerShapes
import Commands
import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model
import Store
import TemplateStore

/// `/v1/apps/{app}/templates`: messages that people compose again, and drafts of them.
enum TemplateOperations {
    static let all = [list, show, put, delete]

    private static let name = PathField.required(
        "template",
        .text(MessageTemplate.nameBytes, atLeast: 1).example("winter sale"),
        "The template's name. By convention, drafts of the console begin with `draft-`."
    )

    static let template = AnswerShape<MessageTemplate>(
        "Template",
        [
            .text("app", "The app.", example: "shop") { $0.app.rawValue },
            .text("name", "The template's name.", example: "winter sale") { $0.name },
            .int64("revision", "Grows with each change.") { $0.revision },
            .text("changedBy", "The author of the last change.", example: "key:crm") { $0.changedBy },
            .time("changedAt", "When it was last changed.") { $0.changedAt },
            .anyObject("content", "Members of a message.") { $0.content }.content,
        ]
    )

    private static let tag = DeclaredAnswer.Header(
        name: "ETag",
        schema: .text(example: "\"41\""),
        description: "The revision in quotation marks, for `If-Match`."
    )

    private static func answer(_ status: Int, _ description: String) -> DeclaredAnswer {
        var answer = DeclaredAnswer.json(status, template.schema, description)
        answer.headers = [tag]
        return answer
    }

    /// A value of `ETag`: a number in quotation marks.
    private static let revision = InputKind<String>.text(24, atLeast: 1).example("\"41\"")
        .map("must be the ETag of the template: a revision in quotation marks, like \"41\"") { text -> Int64? in
            guard text.count > 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return nil }
            return Int64(text.dropFirst().dropLast()).flatMap { $0 >= 0 ? $0 : nil }
        }

    struct ListInput: InputFields {
        let app = CommonInputs.app
        let after = CommonInputs.afterName
        let limit = CommonInputs.limit
    }

    static let page = AnswerPage("templates", template, next: .text(example: "winter sale"))

    static let list = NativeOperation(
        "listTemplates",
        .get,
        "/v1/apps/{app}/templates",
        scope: .read,
        "List an app's templates of messages by name.",
        input: ListInput(),
        answers: [.json(page.schema, "A page of templates.")],
        problems: [.notFound],
        NativeAPI.listTemplates
    )

    struct NameInput: InputFields {
        let app = CommonInputs.app
        let template = TemplateOperations.name
    }

    static let show = NativeOperation(
        "showTemplate",
        .get,
        "/v1/apps/{app}/templates/{template}",
        scope: .read,
        "Show a template.",
        input: NameInput(),
        answers: [answer(200, "The template.")],
        problems: [.notFound],
        NativeAPI.showTemplate
    )

    struct PutInput: InputFields {
        let app = CommonInputs.app
        let template = TemplateOperations.name
        let ifMatch = HeaderField.optional(
            "If-Match",
            TemplateOperations.revision,
            "The `ETag` of the template that the call replaces. Required, except for a template that does not exist; `\"0\"`: only create it."
        )
        let content = BodyField.required(
            "content",
            InputKind<JSONObject>.anyObject.example(["title": "Winter sale", "body": "Dear #{name}, only today."]),
            "Members of a message, as of `sendMessage`. At most \(MessageTemplate.contentBytes) bytes, stored unchanged. Callers replace variables."
        )
    }

    static let put = NativeOperation(
        "putTemplate",
        .put,
        "/v1/apps/{app}/templates/{template}",
        scope: .send,
        "Create a template, or replace the one that the caller has read.",
        input: PutInput(),
        answers: [answer(201, "The template was created."), answer(200, "The template was replaced.")],
        problems: [.notFound, .preconditionFailed, .preconditionRequired],
        NativeAPI.putTemplate
    ).audited(.act)

    struct DeleteInput: InputFields {
        let app = CommonInputs.app
        let template = TemplateOperations.name
        let ifMatch = HeaderField.optional(
            "If-Match",
            TemplateOperations.revision,
            "The `ETag` of the template; default: in whichever revision it is."
        )
    }

    static let delete = NativeOperation(
        "deleteTemplate",
        .delete,
        "/v1/apps/{app}/templates/{template}",
        scope: .send,
        "Delete a template.",
        input: DeleteInput(),
        answers: [.empty("The template is deleted.")],
        problems: [.notFound, .preconditionFailed],
        NativeAPI.deleteTemplate
    ).audited(.act)
}

extension NativeAPI {
    private func template(_ name: String, of app: AppID, _ caller: NativeCaller) async throws(Problem)
        -> MessageTemplate
    {
        let found = try await asked { () async throws(StoreError) in
            try await handler.run(StoreRequest(FindTemplate(app, name: name)) { $0 }, in: caller.tenant)
        }
        guard let found else { throw .notFound("no such template") }
        return found
    }

    private func response(
        _ template: MessageTemplate,
        _ caller: NativeCaller,
        status: HTTPResponse.Status = .ok
    ) -> Response {
        let withContent = caller.mayReadContent(of: template.app)
        return .json(
            TemplateOperations.template.json(template, withContent: withContent),
            status: status,
            headers: [.eTag: "\"\(template.revision)\""]
        )
    }

    func listTemplates(_ call: NativeCall<TemplateOperations.ListInput>) async throws(Problem) -> Response {
        let app = try call.app
        let list = ListTemplates(app, after: try call.after, limit: try call.limit)
        try await known(app, call.caller)
        let page = try await asked { () async throws(StoreError) in
            try await handler.run(StoreRequest(list) { $0 }, in: call.tenant)
        }
        let withContent = call.caller.mayReadContent(of: app)
        return .json(
            TemplateOperations.page.json(page, limit: try call.limit, withContent: { _ in withContent }) {
                .string($0.name)
            }
        )
    }

    func showTemplate(_ call: NativeCall<TemplateOperations.NameInput>) async throws(Problem) -> Response {
        response(try await template(try call.template, of: try call.app, call.caller), call.caller)
    }

    func putTemplate(_ call: NativeCall<TemplateOperations.PutInput>) async throws(Problem) -> Response {
        let (app, name, content) = (try call.app, try call.template, try call.content)
        let tag = try call.ifMatch
        guard JSONWriter.bytes(.object(content)).count <= MessageTemplate.contentBytes else {
            throw .invalid("content", "at most \(MessageTemplate.contentBytes) bytes")
        }
        let write = PutTemplate(app, name: name, content: content, expected: tag ?? 0, by: call.actor)
        let outcome = try await asked { () async throws(StoreError) in
            try await handler.run(StoreRequest(write) { $0 }, in: call.tenant)
        }
        switch outcome {
        case .stored(_, let isNew):
            return response(try await template(name, of: app, call.caller), call.caller, status: isNew ? .created : .ok)
        case .mismatch where tag == nil:
            throw .preconditionRequired("the template exists: send If-Match with its ETag")
        case .mismatch(let revision):
            let present = revision == 0 ? "the template does not exist" : "it has revision \(revision)"
            throw .preconditionFailed(present)
        case .full: throw .invalid("template", "at most \(MessageTemplate.countLimit) per app; delete one first")
        case .missing: throw .notFound("no such app")
        }
    }

    func deleteTemplate(_ call: NativeCall<TemplateOperations.DeleteInput>) async throws(Problem) -> Response {
        let remove = RemoveTemplate(
            try call.app,
            name: try call.template,
            expected: try call.ifMatch,
            by: call.actor
        )
        let outcome = try await asked { () async throws(StoreError) in
            try await handler.run(StoreRequest(remove) { $0 }, in: call.tenant)
        }
        switch outcome {
        case .removed: return Response(status: .noContent)
        case .mismatch(let revision): throw .preconditionFailed("the template has revision \(revision)")
        case .missing: throw .notFound("no such template")
        }
    }
}
