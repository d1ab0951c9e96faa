import Coverage
import Model
import NIOHTTP1
import Testing

/// Each template of an installation is a separate target (docs/contracts/notificationhubs.md#8,
/// docs/contracts/notificationhubs.md#6.2).
extension NotificationHubsTests {
    /// An installation with the templates `news` and `greeting`; all its tags begin with its id.
    private func installTemplates(
        _ id: String,
        _ number: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let body = """
            {"installationId":"\(id)","platform":"apns","pushChannel":"\(Self.token(number))","tags":["\(id)-all"],
            "pushVariables":{"nick":"Mi"},"templates":{
            "news":{"body":"{\\"aps\\":{\\"alert\\":\\"{ 'News: ' + $(title) }\\"}}","tags":["\(id)-news"]},
            "greeting":{"body":"{\\"aps\\":{\\"alert\\":\\"$(nick)\\",\\"badge\\":\\"#(count)\\"}}",
            "headers":{"apns-priority":"5"},"expiry":"$(end:{0})","tags":["\(id)-hello"]}}}
            """
        let answer = try await call(.PUT, "/installations/\(id)", body)
        #expect(answer.status == 200, "\(answer.text)", sourceLocation: sourceLocation)
    }

    private func fill(_ tags: String?, sourceLocation: SourceLocation = #_sourceLocation) async throws -> Answer {
        var headers = ["ServiceBusNotification-Format": "template"]
        headers["ServiceBusNotification-Tags"] = tags
        let answer = try await call(.POST, "/messages", #"{"title":"Sale","count":"3"}"#, headers: headers)
        #expect(answer.status == 201, "\(answer.text)", sourceLocation: sourceLocation)
        return answer
    }

    @Test(.covers("notificationhubs", "POST /{hub}/messages by template"))
    func aTemplateSendFillsEachTemplateOfAnInstallation() async throws {
        try await installTemplates("both", 71)
        let answer = try await fill("both-all")
        _ = try await push(71, count: 2)
        let pushes = try await pushes(71)
        let alerts = pushes.compactMap { $0["payload"]?["aps"]?["alert"]?.string }
        #expect(Set(alerts) == ["News: Sale", "Mi"], "\(pushes)")
        let ids = Set(pushes.compactMap { $0["headers"]?["apns-id"]?.string })
        #expect(ids.count == 2, "each has its own apns-id: \(pushes)")
        let greeting = try #require(pushes.first { $0["payload"]?["aps"]?["alert"] == "Mi" })
        #expect(greeting["payload"]?["aps"]?["badge"] == 3, "\(greeting)")
        #expect(greeting["headers"]?["apns-priority"] == "5" && greeting["headers"]?["apns-expiration"] == "0")
        try await telemetry(of: answer, has: "<Name>Success</Name><Count>2</Count>")
    }

    @Test(arguments: [("tag-all && tag-news", "News: Sale", 72), ("$InstallationId:{name} && greeting", "Mi", 73)])
    func aTemplateIsAddressedByItsTagOrItsName(tags: String, alert: String, number: Int) async throws {
        let id = number == 72 ? "tag" : "name"
        try await installTemplates(id, number)
        _ = try await fill(tags)
        #expect(try await push(number)["payload"]?["aps"]?["alert"] == .string(alert))
    }

    @Test func aNativeSendReachesTheDeviceOnceAndNotThroughATemplatesTag() async throws {
        try await installTemplates("once", 74)
        let nobody = try await send(#"{"aps":{"alert":"native"}}"#, tags: "once-news")
        try await telemetry(of: nobody, has: "<State>NoTargetFound</State>")
        let answer = try await send(#"{"aps":{"alert":"native"}}"#, tags: "once-all")
        try await telemetry(of: answer, has: "<Name>Success</Name><Count>1</Count>")
        _ = try await push(74)
    }

    @Test func aRemovedTemplateIsNotFilled() async throws {
        try await installTemplates("less", 75)
        let remove = #"[{"op":"remove","path":"/templates/news"}]"#
        #expect(try await call(.PATCH, "/installations/less", remove).status == 200)
        try await telemetry(of: try await fill("less-news"), has: "<State>NoTargetFound</State>")
        _ = try await fill(nil)
        #expect(try await push(75)["payload"]?["aps"]?["alert"] == "Mi")
    }
}
