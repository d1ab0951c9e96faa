import FoundationEssentials
import HTTPTypes
import Model
import Testing

@testable import Braze

/// The vendor as an upstream. Its calls are read by the adapter again, with the campaign of `CampaignTests`.
enum OldBraze {
    static let upstream = UpstreamSettings(vendor: .braze, secrets: ["restKey": Mount.key])

    static func target(
        _ user: String?,
        platform: Platform = .ios,
        attributes: JSONObject = ["plan": "gold"],
        variables: JSONObject = JSONObject()
    ) -> TargetFacts {
        var facts = TargetFacts(
            target: TargetID(rawValue: UUID()),
            identity: IdentityID(UUID()),
            device: nil,
            app: "shop",
            vendor: .braze,
            key: "k",
            person: TargetPerson(user: user.map { UserID($0) }),
            destination: PushDestination(
                platform: platform,
                environment: .production,
                token: nil,
                tokenState: .active
            )
        )
        facts.person.attributes = attributes
        facts.variables = variables
        return facts
    }

    /// The message of a send, after all steps of its call.
    static func submission(_ request: VendorRequest) throws -> Submission {
        let gateway = CampaignTests.FakeGateway()
        let answer = Mount.answer(request, gateway.reply)
        guard let submission = gateway.submissions.first else { throw AdapterError(.invalid, field: answer.text) }
        return submission
    }

    /// The message when it is due.
    static func notification(_ submission: Submission) -> Notification {
        let due = submission.timing.dueAt ?? Mount.now
        return Notification(
            message: Mount.message,
            origin: .braze,
            content: submission.content,
            sentAt: due,
            expiresAt: submission.timing.timeToLive.map { due + $0 },
            collapseID: submission.collapseID
        )
    }

    static func calls(_ notification: Notification, _ targets: [TargetFacts]) throws -> [UpstreamCall] {
        try Mount.adapter.outbound(
            notification,
            to: targets,
            through: upstream,
            settings: Mount.settings,
            at: notification.sentAt
        )
    }

    static func body(_ call: UpstreamCall) -> JSON { (try? JSONParser.parse(call.request.body)) ?? .null }

    /// A documented response.
    static func response(_ name: String) throws -> VendorResponse {
        let message = try Fixture.message(name)
        var headers = HTTPFields()
        for (name, value) in message.headers { if let name = HTTPField.Name(name) { headers[name] = value } }
        let status = Int(message.line.split(separator: " ")[1]) ?? 0
        return VendorResponse(status: status, headers: headers, body: Array(message.body.utf8))
    }
}
