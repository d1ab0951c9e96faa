import Model
import PageParts

/// The rules of an app: those in force, their versions with the difference of two, a test of a user, and the overlay.
struct AppRoutesPage: ConsolePage {
    let path = "apps/{app}/routes"
    let permission = Permission.configure
    var forms: [any ConsoleForm] { [SaveOverlayForm(), TryOverlayForm(), RestoreRoutesForm()] }

    static func address(_ request: PageRequest) -> String {
        "apps/\(APICall.segment(request.path["app"] ?? ""))/routes"
    }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard !answers.has("routes") else { return [] }
        let address = Self.address(request)
        var calls = [
            APICall("routes", .get, address),
            APICall("versions", .get, "\(address)/versions", query: OperationsParts.page(request)),
        ]
        if let version = Self.other(request) {
            let query = [PageRequest.Parameter("version", String(version))]
            calls.append(APICall("other", .get, address, query: query))
        }
        if let test = RouteTest(request) { calls.append(test.call("test", address, overlay: nil)) }
        if let overlay = Self.tried(request) {
            calls.append(RouteTest(trying: request).call("trial", address, overlay: overlay))
        }
        return calls
    }

    func export(_ request: PageRequest) -> APICall? { APICall("routes", .get, Self.address(request)) }

    /// The version that is compared with the one in force.
    private static func other(_ request: PageRequest) -> Int64? {
        let text = request.typed["version"].flatMap { request.typed["overlay"] == nil ? $0 : nil }
        let version = (text ?? request.value("version")).flatMap { Int64($0) }
        return version.flatMap { (1...Int64(Int32.max)).contains($0) ? $0 : nil }
    }

    /// The overlay that a person tries without saving it.
    private static func tried(_ request: PageRequest) -> JSONObject? {
        guard request.errors.errors.isEmpty, let text = request.typed["overlay"] else { return nil }
        return SaveOverlayForm.overlay(text)
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Wording(request)
        let routes = try answers.required("routes")
        let app = request.path["app"] ?? ""
        let here = Link.path("apps", app, "routes")
        let parts = RouteParts(request: request, answers: answers, routes: routes, here: here)
        var blocks: [Block] = []
        if let problems = FormProblems.block(request, visible: ["overlay"]) { blocks.append(problems) }
        if Confirmation.isAsked("restore", request) {
            blocks.append(
                Confirmation.block(
                    request,
                    title: words(RoutesText.rollback),
                    text: words(RoutesText.rollbackQuestion(request.typed["version"] ?? Wording.unknown)),
                    submit: words(RoutesText.rollback),
                    path: here + "/restore",
                    back: here
                )
            )
        }
        blocks += [parts.difference, parts.conflict, parts.trial, parts.test].compactMap { $0 }
        blocks += parts.rules
        blocks.append(parts.versions)
        blocks.append(parts.editor)
        return PageContent(
            title: "\(words(RoutesText.title)): \(app)",
            sentence: Self.sentence(routes, app, words),
            actions: [
                .link(Link(words(MigrationsText.title), "migrations", [PageRequest.Parameter("app", app)])),
                .link(Link(words(AppsText.parity), Link.path("apps", app, "parity"))),
            ],
            filters: RouteTest.filters(request, words),
            blocks: blocks
        )
    }

    /// The rule: without rules, by a migration, otherwise who made the version in force.
    private static func sentence(_ routes: JSON, _ app: String, _ words: Wording) -> Sentence {
        guard let version = routes["version"]?.int else {
            return Sentence(mark: .ok, text: words(RoutesText.served(app)))
        }
        let time = words.time(routes["madeAt"])
        if routes["origin"]?.string == "migration" {
            let link = Link(words(MigrationsText.title), "migrations", [PageRequest.Parameter("app", app)])
            return Sentence(
                mark: .info,
                text: words(RoutesText.byMigration(words.count(version), time)),
                link: link
            )
        }
        let text = RoutesText.inForce(
            words.count(version),
            words(RoutesText.origin(routes["origin"]?.string)),
            words(ActorName.of(routes["actor"]?.string ?? "")),
            time
        )
        return Sentence(mark: .ok, text: words(text))
    }
}

/// A question to the rules: a call of a vendor, and the users or devices that it names.
struct RouteTest {
    private let vendor: String
    private let kind: String
    private let users: [String]
    private let devices: [String]

    /// The question of the address; nil: there is none.
    init?(_ request: PageRequest) {
        guard let vendor = request.value("vendor") else { return nil }
        self.vendor = vendor
        kind = request.value("kind") ?? "send"
        users = Self.names(request.value("user"))
        devices = Self.names(request.value("device"))
    }

    /// The question of the form that tries an overlay.
    init(trying request: PageRequest) {
        vendor = request.typed["tryVendor"] ?? VendorName.all[0]
        kind = "send"
        users = Self.names(request.typed["tryUser"])
        devices = []
    }

    /// Names with commas between them; 20 are enough for a person.
    private static func names(_ text: String?) -> [String] {
        (text ?? "").split(separator: ",").prefix(20).map {
            String($0.drop(while: \.isWhitespace)).trimmingSuffix()
        }.filter { !$0.isEmpty }
    }

    func call(_ name: String, _ address: String, overlay: JSONObject?) -> APICall {
        var body: JSONObject = ["vendor": .string(vendor), "kind": .string(kind)]
        if !users.isEmpty { body["users"] = .array(users.map { .string($0) }) }
        if !devices.isEmpty { body["devices"] = .array(devices.map { .string($0) }) }
        if let overlay { body["overlay"] = .object(overlay) }
        return APICall(name, .post, "\(address)/test", body: .object(body))
    }

    static func filters(_ request: PageRequest, _ words: Wording) -> [Filter] {
        [
            .choice(
                label: words(RoutesText.test),
                parameter: "vendor",
                options: VendorName.filter(words.language),
                selected: request.value("vendor")
            ),
            .choice(
                label: words(RoutesText.kind),
                parameter: "kind",
                options: RoutesText.kinds.map { Filter.Option(value: $0, label: words(RoutesText.kindName($0))) },
                selected: request.value("kind") ?? "send"
            ),
            .text(
                label: words(RoutesText.user),
                parameter: "user",
                value: request.value("user"),
                placeholder: "user-1, user-2"
            ),
            .text(
                label: words(RoutesText.device),
                parameter: "device",
                value: request.value("device"),
                placeholder: "phone-1"
            ),
        ]
    }
}

extension String {
    fileprivate func trimmingSuffix() -> String {
        var text = self
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
