import Model
import NIOHTTP1
import Testing

/// docs/contracts/notificationhubs.md#7.4: one notification to many handles.
extension NotificationHubsTests {
    func batches(_ world: World) async throws {
        for number in 41...43 {
            try await install(world, "b-\(number)", Self.token(number), user: "b", tags: ["bseoul"])
        }
        func batch(_ numbers: [Int]) async throws -> Answer {
            let handles = numbers.map { "\"\(Self.token($0))\"" }.joined(separator: ",")
            let lines = [
                "--nh", "Content-Type: application/json", "Content-Disposition: inline; name=notification", "",
                #"{"aps":{"alert":"batch"}}"#, "--nh", "Content-Disposition: inline; name=devices", "", "[\(handles)]",
                "--nh--", "",
            ]
            return try await call(
                world,
                .POST,
                "/messages/$batch?direct",
                lines.joined(separator: "\r\n"),
                headers: [
                    "Content-Type": #"multipart/mixed; boundary="nh""#, "ServiceBusNotification-Format": "apple",
                ]
            )
        }
        // Device 98 is not installed.
        let answer = try await batch([41, 98, 42, 41])
        #expect(answer.status == 201, "\(answer.text)")
        let place = try #require(answer.header("location")?.split(separator: "?").first?.split(separator: "/").last)
        for number in [41, 42, 98] {
            let push = try await push(world, number, count: 1)
            #expect(push?["payload"]?["aps"]?["alert"] == "batch", "\(push ?? .null)")
        }
        try await eventually("its telemetry") {
            let details = try await call(world, .GET, "/messages/$batch/\(place)").text
            return details.contains("<Name>Success</Name><Count>3</Count>")
        }
        #expect(try await pushes(world, 43).isEmpty)
    }
}
