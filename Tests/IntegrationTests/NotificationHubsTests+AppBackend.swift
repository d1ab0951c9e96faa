import AsyncHTTPClient
import CommandSupport
import Coverage
import Crypto
import Foundation
import Model
import NIOCore
import NIOHTTP1
import Testing

/// docs/contracts/notificationhubs.md#10: the back end of the rich-push tutorial, as its app calls it.
extension NotificationHubsTests {
    /// An image of one transparent pixel.
    private static let image =
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        ) ?? Data()
    static let imageHash = SHA256.hash(data: image).map { String(format: "%02x", $0) }.joined()

    private struct SiteAnswer {
        var status: Int
        var headers: HTTPHeaders
        var bytes: [UInt8]
        var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    private func site(
        _ method: HTTPMethod,
        _ path: String,
        _ body: String? = nil,
        as user: String? = "mina:a secret of mina's"
    ) async throws -> SiteAnswer {
        var request = HTTPClientRequest(url: "\(try world.http.base)/site/api\(path)")
        request.method = method
        if let user {
            request.headers.add(name: "authorization", value: "Basic \(Data(user.utf8).base64EncodedString())")
        }
        request.headers.add(name: "content-type", value: "application/json;charset=utf-8")
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let buffer = try await response.body.collect(upTo: 1 << 20)
        return SiteAnswer(
            status: Int(response.status.code),
            headers: response.headers,
            bytes: Array(buffer.readableBytesView)
        )
    }

    /// Registers mina's device as the app's client does. Returns the id and the body that was put under it.
    private func register(
        _ number: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> (id: String, document: String) {
        let drawn = try await site(.POST, "/register?handle=\(Self.token(number))")
        #expect(drawn.status == 200, "\(drawn.text)", sourceLocation: sourceLocation)
        let id = String(drawn.text.dropFirst().dropLast())
        let document = #"{"Platform":"apns","Handle":"\#(Self.token(number))","Tags":["seoul"]}"#
        let put = try await site(.PUT, "/register/\(id)", document)
        #expect(put.status == 200, "\(put.text)", sourceLocation: sourceLocation)
        return (id, document)
    }

    @Test func anUnknownUserOfTheAppBackEndIs401() async throws {
        let stranger = try await site(.POST, "/register", as: nil)
        #expect(stranger.status == 401 && stranger.headers.first(name: "www-authenticate") != nil)
        #expect(try await site(.POST, "/register", as: "mina:mina").status == 401)
    }

    @Test(.covers("notificationhubs", "POST /api/register", "PUT /api/register/{id}"))
    func aHandleIsRegisteredUnderOneID() async throws {
        let (id, _) = try await register(101)
        #expect(try await site(.POST, "/register?handle=\(Self.token(101))").text == "\"\(id)\"")
    }

    @Test(.covers("notificationhubs", "DELETE /api/register/{id}"))
    func aDeletedRegistrationOfTheAppIs410AndItsHandleGetsANewID() async throws {
        let (id, document) = try await register(102)
        #expect(try await site(.DELETE, "/register/\(id)").status == 200)
        #expect(try await site(.PUT, "/register/\(id)", document).status == 410)
        let again = try await site(.POST, "/register?handle=\(Self.token(102))")
        #expect(again.status == 200 && again.text != "\"\(id)\"")
    }

    @Test(.covers("notificationhubs", "POST /api/notifications"))
    func aTextReachesTheDevicesOfItsUser() async throws {
        _ = try await register(103)
        let sent = try await site(.POST, "/notifications?pns=apns&to_tag=mina", "\"Hello\"", as: "hong:gildong")
        #expect(sent.status == 200, "\(sent.text)")
        #expect(try await push(103)["payload"] == ["aps": ["alert": "From hong: Hello"]])
    }

    @Test(.covers("notificationhubs", "POST /api/notifications", "GET /api/notifications"))
    func aRichNotificationIsASilentPushWhoseUserReadsTheImage() async throws {
        _ = try await register(104)
        let rich = try await site(.POST, "/notifications")
        #expect(rich.status == 200 && rich.bytes.isEmpty, "\(rich.text)")
        let push = try await push(104)
        let payload = push["payload"]
        #expect(payload?["aps"] == ["content-available": 1, "sound": ""], "\(push)")
        #expect(payload?["richType"] == "img" && payload?["richMessage"] == "Check this image out!")
        #expect(push["headers"]?["apns-push-type"] == "background", "\(push)")
        let number = try #require(payload?["richId"]?.string.flatMap { Int($0) })
        // The image that the binding names may come later than the push.
        #expect(try await site(.GET, "/notifications/\(number)").status == 404)
        try await upload()
        let shown = try await site(.GET, "/notifications/\(number)")
        #expect(shown.status == 200 && shown.bytes == Array(Self.image))
        #expect(shown.headers.first(name: "content-type") == "image/png")
        #expect(try await site(.GET, "/notifications/\(number)", as: "hong:gildong").status == 404, "another user")
        #expect(try await site(.GET, "/notifications/\(number + 1)").status == 404)
        #expect(try await site(.GET, "/notifications/x").status == 400)
    }

    private func upload(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let world = try world
        let path = "/v1/apps/shop/media/\(Self.imageHash)"
        let stored = try await world.http.put(path, Array(Self.image), bearer: world.apiKey)
        #expect(stored.status == 201, "\(stored.text)", sourceLocation: sourceLocation)
    }
}
