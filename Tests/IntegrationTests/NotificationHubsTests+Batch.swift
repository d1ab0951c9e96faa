import Coverage
import Model
import NIOHTTP1
import Testing

/// docs/contracts/notificationhubs.md#7.4: one notification to many handles.
extension NotificationHubsTests {
    @Test(.covers("notificationhubs", "POST /{hub}/messages/$batch"))
    func aBatchReachesEachHandleOnceWhetherItIsInstalledOrNot() async throws {
        for number in [41, 42, 43] { try await install("b-\(number)", number, user: "b", tags: ["batch"]) }
        // The batch contains the first device twice, and device 44 is not installed.
        let handles = [41, 44, 42, 41].map { "\"\(Self.token($0))\"" }.joined(separator: ",")
        let lines = [
            "--nh", "Content-Type: application/json", "Content-Disposition: inline; name=notification", "",
            #"{"aps":{"alert":"batch"}}"#, "--nh", "Content-Disposition: inline; name=devices", "", "[\(handles)]",
            "--nh--", "",
        ]
        let answer = try await call(
            .POST,
            "/messages/$batch?direct",
            lines.joined(separator: "\r\n"),
            headers: [
                "Content-Type": #"multipart/mixed; boundary="nh""#, "ServiceBusNotification-Format": "apple",
            ]
        )
        #expect(answer.status == 201, "\(answer.text)")
        for number in [41, 42, 44] {
            #expect(try await push(number)["payload"]?["aps"]?["alert"] == "batch")
        }
        let id = try #require(answer.id)
        try await eventually("its telemetry") {
            try await call(.GET, "/messages/$batch/\(id)").text.contains("<Name>Success</Name><Count>3</Count>")
        }
        #expect(try await pushes(43).isEmpty)
    }
}
