import FoundationEssentials
import Model
import Routing
import Testing

@Suite struct RouterTests {
    let credentials: [PushEnvironment: CredentialID] = [.production: "apple", .sandbox: "apple-sandbox"]

    private func target(_ platform: Platform = .ios, _ environment: PushEnvironment = .production) -> TargetFacts {
        let identity = IdentityID(UUID())
        return TargetFacts(
            target: TargetID(identity),
            identity: identity,
            device: DeviceID(UUID()),
            app: "shop",
            vendor: .rationalOwl,
            key: "d1",
            destination: PushDestination(
                platform: platform,
                environment: environment,
                token: DeviceToken(stored: "ab"),
                tokenState: .active
            )
        )
    }

    @Test(arguments: [(PushEnvironment.production, "apple"), (.sandbox, "apple-sandbox")])
    func tokenLeavesThroughTheCredentialOfItsEnvironment(environment: PushEnvironment, credential: String) {
        let route = Router().route(to: target(.ios, environment), topic: "com.example.shop", credentials: credentials)
        #expect(route == .direct(CredentialID(credential)))
    }

    @Test func environmentWithoutCredentialHasNoRoute() {
        let route = Router().route(
            to: target(.ios, .sandbox),
            topic: "com.example.shop",
            credentials: [.production: "apple"]
        )
        #expect(route == .none)
    }

    @Test func appleAppWithoutTopicHasNoRoute() {
        #expect(Router().route(to: target(), topic: "", credentials: credentials) == .none)
    }

    @Test func androidNeedsNoTopic() {
        #expect(Router().route(to: target(.android), topic: "", credentials: credentials) == .direct("apple"))
    }
}
