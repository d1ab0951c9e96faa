import FoundationEssentials
import HTTPTypes
package import Model

/// The rules of `VendorAdapter`, checked for every vendor: I5 and I11 for the adapter alone.
package enum AdapterContract {
    package static let rules = [
        AdapterRule("every named call of the catalogue has a documented request that becomes commands") { subject in
            let reached = Set(
                subject.documented.filter { (try? subject.commands($0).get())?.isEmpty == false }.map(\.route)
            )
            let named = Set(subject.adapter.routes.map(\.name)).subtracting(subject.catchAll)
            return named.subtracting(reached).sorted().map { "no command of \($0)" }
        },
        AdapterRule("no two routes have the same method and path, and each bounds its body") { subject in
            var seen: Set<String> = []
            return subject.adapter.routes.compactMap { route in
                if route.bodyLimitBytes <= 0 { return "\(route.name) takes no body" }
                let key = "\(route.method?.rawValue ?? "*") \(route.path)"
                return seen.insert(key).inserted ? nil : "\(key) stands twice"
            }
        },
        AdapterRule("every route answers anything in the vendor's shape") { subject in
            subject.adapter.routes.flatMap { route in
                bodies.compactMap { body in
                    let path =
                        switch route.path {
                        case .exact(let path): path
                        case .prefix(let path): path + "/no/such.call"
                        case .suffix(let end): "/somewhere" + (end.hasPrefix("/") ? end : "/\(end)")
                        case .within(let part): "/somewhere/\(part)/no/such/call"
                        }
                    var request = subject.documented.first ?? VendorRequest(route: route.name, path: path)
                    (request.route, request.path, request.body, request.query) = (route.name, path, body, nil)
                    return fault(subject, request) { $0.map { _ in .refused(.unknownBinding) } }
                }
            }
        },
        AdapterRule("every refusal of a command has the vendor's shape") { subject in
            subject.documented.flatMap { request in
                refusals.flatMap { refusal in
                    [1, 2].compactMap { count in
                        fault(subject, request) { _ in Array(repeating: .refused(refusal), count: count) }
                    }
                }
            }
        },
        AdapterRule("every error of a request has the vendor's shape, bound or not") { subject in
            subject.documented.flatMap { request in
                errors.flatMap { error in
                    [subject.settings, .unbound].compactMap { settings in
                        let response = subject.adapter.refuse(error, for: request, settings: settings)
                        return subject.fault(response, request).map { "\(error) at \(request.path): \($0)" }
                    }
                }
            }
        },
        AdapterRule("encode is total: a reply of another call, none or too many give the vendor's shape") { subject in
            subject.documented.flatMap { request in
                ([[]] + replies.map { [$0] } + replies.map { [$0, $0, $0] }).compactMap { replies in
                    let response = subject.adapter.encode(replies, for: request, settings: subject.settings)
                    return subject.fault(response, request).map { "\(request.path) with \(replies): \($0)" }
                }
            }
        },
        AdapterRule("the beginning of a body names the binding of the whole call, or none") { subject in
            subject.documented.flatMap { request -> [String] in
                let key = (try? subject.adapter.locate(request))?.0
                // Fifty places in each body: some are long.
                let step = max(1, request.body.count / 50)
                return stride(from: 0, to: request.body.count, by: step).compactMap { count in
                    var beginning = request
                    beginning.body = BodyBeginning.completed(Array(request.body[..<count])) ?? []
                    guard let early = subject.adapter.earlyKey(of: beginning), early != key else { return nil }
                    return "\(early) after \(count) bytes of \(request.path)"
                }
            }
        },
        AdapterRule("the same request and settings give the same commands and answer") { subject in
            subject.documented.compactMap { request in
                let first = subject.answer(request) { $0.map { _ in .refused(.unknownDevice) } }
                let second = subject.answer(request) { $0.map { _ in .refused(.unknownDevice) } }
                return first == second && subject.commands(request) == subject.commands(request) ? nil : request.path
            }
        },
        AdapterRule("a payload fits its limit, is an object, and says of itself what was cut") { subject in
            contents.flatMap { content in
                Platform.allCases.compactMap { platform in payloadFault(subject, content, platform) }
            }
        },
    ]

    /// Mutated calls, half of them with correct types, get an answer of the vendor's shape and never trap.
    ///
    /// - Parameters:
    ///   - subject: the vendor.
    ///   - request: a documented call.
    ///   - count: the number of mutations.
    ///   - seed: the seed that repeats the run.
    /// - Returns: the number of commands, and the first fault.
    package static func mutate(
        _ subject: AdapterUnderTest,
        _ request: VendorRequest,
        count: Int,
        seed: UInt64
    ) -> (commands: Int, fault: String?) {
        var mutator = Mutator(
            seed: seed ^ UInt64(truncatingIfNeeded: request.path.utf8.reduce(5381) { $0 &* 33 &+ Int($1) })
        )
        let object = try? JSONParser.parse(request.body)
        var reached = 0
        for index in 0..<count {
            var mutated = request
            mutated.body =
                if index.isMultiple(of: 2), let object { mutator.typeCorrect(object) } else {
                    mutator.raw(request.body)
                }
            if index % 7 == 0 { mutated.headers[.contentType] = "application/x-www-form-urlencoded" }
            if index % 11 == 0 { mutated.query = String(decoding: mutated.body.prefix(200), as: UTF8.self) }
            let random = mutator.random.next()
            let response = subject.answer(mutated) { commands in
                reached += 1
                return commands.map { _ in any(random) }
            }
            if let fault = subject.fault(response, mutated) {
                let body = String(decoding: mutated.body.prefix(500), as: UTF8.self)
                return (reached, "mutation \(index) of \(request.path): \(fault) in answer to \(body)")
            }
        }
        return (reached, nil)
    }

    private static func any(_ random: UInt64) -> Reply {
        let all = refusals.map { Reply.refused($0) } + replies
        return all[Int(random % UInt64(all.count))]
    }

    private static func fault(
        _ subject: AdapterUnderTest,
        _ request: VendorRequest,
        _ replies: ([Command]) -> [Reply]
    ) -> String? {
        let response = subject.answer(request, replies)
        return subject.fault(response, request).map {
            "\(request.path) \(String(decoding: request.body.prefix(80), as: UTF8.self)): \($0)"
        }
    }

    private static func shows(_ json: JSON, _ text: String) -> Bool {
        switch json {
        case .string(let value): value.contains(text)
        case .array(let list): list.contains { shows($0, text) }
        case .object(let object): object.pairs.contains { shows($0.value, text) }
        case .null, .bool, .number: false
        }
    }

    private static func payloadFault(_ subject: AdapterUnderTest, _ content: Content, _ platform: Platform) -> String? {
        let message = MessageID(UUID())
        let notification = Notification(
            message: message,
            origin: .native,
            content: content,
            sentAt: Timestamp(seconds: 1_700_000_000),
            numbers: [subject.adapter.vendor: "202001150900001234"]
        )
        let target = TargetFacts(
            target: TargetID(UUID()),
            identity: IdentityID(UUID()),
            device: nil,
            app: "shop",
            vendor: subject.adapter.vendor,
            key: "key",
            destination: PushDestination(
                platform: platform,
                environment: .production,
                token: nil,
                tokenState: .active
            )
        )
        let what = "body of \(content.body.utf8.count) bytes, data of \(content.data.count) keys"
        do throws(AdapterError) {
            let payload = try subject.adapter.payload(for: notification, to: target, settings: subject.settings)
            if payload.bytes.count > subject.payloadLimitBytes { return "\(what): \(payload.bytes.count) bytes" }
            guard let object = (try? JSONParser.parse(payload.bytes))?.object else { return "\(what): no object" }
            if content.isSilent, payload.type != .background {
                return "\(what): a silent message is not a background push"
            }
            // A raw payload is sent unchanged, independent of other texts in the content.
            let isWhole = content.raw != nil || shows(.object(object), String(content.body.suffix(8)))
            return isWhole || !payload.reduced.isEmpty || content.isSilent ? nil : "\(what): cut, and does not say so"
        } catch {
            return error.code == .tooLarge || error.code == .invalid ? nil : "\(what): \(error)"
        }
    }
}
