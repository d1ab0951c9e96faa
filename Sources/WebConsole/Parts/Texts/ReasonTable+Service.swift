extension ReasonTable {
    static let credentials: [(String, ReasonWords)] = [
        (
            "BadTopic",
            ReasonWords(
                "BadTopic",
                Text(ko: "토픽의 형식이 잘못되었습니다.", en: "The topic is malformed."),
                .operations,
                Text(
                    ko: "앱의 토픽을 수정하세요. 대기 중인 메시지는 그 후 발신됩니다.",
                    en: "Fix the app's topic. Waiting messages are then sent."
                )
            )
        ),
        (
            "MissingTopic",
            ReasonWords(
                "MissingTopic",
                Text(ko: "요청에 토픽이 없습니다.", en: "The request named no topic."),
                .operations,
                Text(ko: "앱에 토픽을 설정하세요.", en: "Give the app a topic.")
            )
        ),
        (
            "TopicDisallowed",
            ReasonWords(
                "TopicDisallowed",
                Text(ko: "이 인증서·키로는 해당 토픽에 발신할 수 없습니다.", en: "The credential may not send to that topic."),
                .operations,
                Text(
                    ko: "앱과 같은 팀의 키이거나 해당 토픽을 포함하는 키를 사용하세요.",
                    en: "Use a key of the app's own team, or one whose topics include it."
                )
            )
        ),
        (
            "BadCertificate",
            ReasonWords(
                "BadCertificate",
                Text(ko: "APNs가 인증서를 거절합니다.", en: "APNs rejects the certificate."),
                .operations,
                Text(
                    ko: "유효한 인증서를 등록하세요. 만료일은 인증서·키 페이지에 있습니다.",
                    en: "Upload a valid certificate. The page of credentials shows when it expires."
                )
            )
        ),
        (
            "BadCertificateEnvironment",
            ReasonWords(
                "BadCertificateEnvironment",
                Text(ko: "인증서가 다른 환경의 것입니다.", en: "The certificate belongs to the other environment."),
                .operations,
                Text(
                    ko: "앱의 platforms에서 해당 환경(production 또는 sandbox)에 지정하세요.",
                    en: "In the app's platforms, enter it under its own environment (production or sandbox)."
                )
            )
        ),
        (
            "ExpiredProviderToken",
            ReasonWords(
                "ExpiredProviderToken",
                Text(ko: "공급자 토큰이 한 시간보다 오래되었습니다.", en: "The provider token was older than an hour."),
                .operations,
                Text(
                    ko: "게이트웨이가 자동으로 갱신합니다. 계속되면 데이터베이스 서버의 시계를 확인하세요.",
                    en:
                        "The gateway renews it automatically. If the error persists, check the clock of the database server."
                )
            )
        ),
        (
            "Forbidden",
            ReasonWords(
                "Forbidden",
                Text(
                    ko: "APNs가 요청을 허용하지 않습니다. 키가 폐기되었을 수 있습니다.",
                    en: "APNs does not allow the request: the key may have been revoked."
                ),
                .appleAccount,
                Text(ko: "유효한 키를 등록하세요.", en: "Upload a valid key.")
            )
        ),
        (
            "InvalidProviderToken",
            ReasonWords(
                "InvalidProviderToken",
                Text(
                    ko: "APNs가 공급자 토큰을 확인할 수 없습니다. 키, 키 ID, 팀 ID가 서로 맞지 않습니다.",
                    en: "APNs cannot verify the provider token: key, key ID and team ID do not match."
                ),
                .operations,
                Text(
                    ko: "인증서·키의 팀 ID, 키 ID, .p8 파일을 확인하세요. 대기 중인 메시지는 그 후 발신됩니다.",
                    en:
                        "Check the team ID, the key ID and the .p8 file of the credential. Waiting messages are then sent."
                )
            )
        ),
        (
            "MissingProviderToken",
            ReasonWords(
                "MissingProviderToken",
                Text(ko: "요청에 인증서도 공급자 토큰도 없습니다.", en: "The request had neither a certificate nor a provider token."),
                .operations,
                Text(ko: "인증서·키의 종류를 확인하세요.", en: "Check the kind of the credential.")
            )
        ),
        (
            "UnrelatedKeyIdInToken",
            ReasonWords(
                "UnrelatedKeyIdInToken",
                Text(ko: "키가 같은 연결의 다른 키와 맞지 않습니다.", en: "The key does not match the other keys of the connection."),
                .operations,
                Text(
                    ko: "게이트웨이가 자동으로 다른 연결을 엽니다. 계속되면 키의 토픽을 확인하세요.",
                    en:
                        "The gateway opens another connection automatically. If the error persists, check the topics of the key."
                )
            )
        ),
        (
            "BadEnvironmentKeyIdInToken",
            ReasonWords(
                "BadEnvironmentKeyIdInToken",
                Text(ko: "키가 다른 환경의 것입니다.", en: "The key belongs to the other environment."),
                .operations,
                Text(
                    ko: "앱의 platforms에서 해당 환경(production 또는 sandbox)에 지정하세요.",
                    en: "In the app's platforms, enter it under its own environment (production or sandbox)."
                )
            )
        ),
        (
            "TooManyProviderTokenUpdates",
            ReasonWords(
                "TooManyProviderTokenUpdates",
                Text(ko: "공급자 토큰이 너무 자주 변경되었습니다.", en: "The provider token changed too often."),
                .operations,
                Text(
                    ko: "잠시 기다리세요. 같은 키로 공급자 토큰을 만드는 다른 프로그램이 있는지 확인하세요.",
                    en: "Wait. Check that no other program signs provider tokens with the same key."
                )
            )
        ),
        (
            "TopicMismatch",
            ReasonWords(
                "TopicMismatch",
                Text(ko: "인증서·키가 채널의 앱과 맞지 않습니다.", en: "The credential does not belong to the channel's app."),
                .operations,
                Text(ko: "해당 앱의 인증서·키를 사용하세요.", en: "Use a credential of that app.")
            )
        ),
        (
            "FeatureNotEnabled",
            ReasonWords(
                "FeatureNotEnabled",
                Text(ko: "앱에 브로드캐스트가 켜져 있지 않습니다.", en: "Broadcasts are not enabled for the app."),
                .appleAccount,
                Text(ko: "Apple 개발자 계정에서 기능을 켜세요.", en: "Enable the capability in the Apple developer account.")
            )
        ),
    ]

    static let service: [(String, ReasonWords)] = [
        (
            "IdleTimeout",
            ReasonWords(
                "IdleTimeout",
                Text(ko: "연결이 사용되지 않아 APNs가 닫았습니다.", en: "APNs closed the connection because it was idle."),
                .nobody,
                Text(
                    ko: "조치할 필요가 없습니다. 게이트웨이가 다시 연결하여 발신합니다.",
                    en: "No action is needed. The gateway connects and sends again."
                )
            )
        ),
        (
            "TooManyRequests",
            ReasonWords(
                "TooManyRequests",
                Text(ko: "이 단말에 너무 많은 푸시가 발신되었습니다.", en: "Too many notifications were sent to this device."),
                .sender,
                Text(
                    ko: "덜 자주 발신하거나 collapseId를 사용하세요. 메시지가 만료될 때까지 게이트웨이가 다시 시도합니다.",
                    en: "Send to it less often, or use a collapseId. The gateway tries again until the message expires."
                )
            )
        ),
        (
            "InternalServerError",
            ReasonWords(
                "InternalServerError",
                Text(ko: "APNs에 내부 오류가 발생했습니다.", en: "APNs had an internal error."),
                .pushService,
                Text(ko: "메시지가 만료될 때까지 게이트웨이가 다시 시도합니다.", en: "The gateway tries again until the message expires.")
            )
        ),
        (
            "ServiceUnavailable",
            ReasonWords(
                "ServiceUnavailable",
                Text(ko: "APNs에 부하가 많습니다.", en: "APNs is overloaded."),
                .pushService,
                Text(ko: "메시지가 만료될 때까지 게이트웨이가 다시 시도합니다.", en: "The gateway tries again until the message expires.")
            )
        ),
        (
            "Shutdown",
            ReasonWords(
                "Shutdown",
                Text(ko: "해당 APNs 서버가 종료 중입니다.", en: "That APNs server is shutting down."),
                .nobody,
                Text(
                    ko: "조치할 필요가 없습니다. 게이트웨이가 다른 서버에 연결하여 발신합니다.",
                    en: "No action is needed. The gateway connects to another server and sends again."
                )
            )
        ),
    ]

    static let broadcasts: [(String, ReasonWords)] = [
        (
            "MissingChannelId",
            ReasonWords(
                "MissingChannelId",
                Text(ko: "브로드캐스트에 채널이 없습니다.", en: "The broadcast named no channel."),
                .sender,
                Text(ko: "채널을 지정하세요.", en: "Name the channel.")
            )
        ),
        (
            "BadChannelId",
            ReasonWords(
                "BadChannelId",
                Text(ko: "해당 환경에 채널이 없습니다.", en: "The channel does not exist in that environment."),
                .sender,
                Text(ko: "채널을 다시 만들거나 환경을 확인하세요.", en: "Create the channel again, or check the environment.")
            )
        ),
        (
            "ChannelNotRegistered",
            ReasonWords(
                "ChannelNotRegistered",
                Text(ko: "채널이 삭제되었습니다.", en: "The channel was deleted."),
                .sender,
                Text(ko: "채널을 다시 만드세요.", en: "Create the channel again.")
            )
        ),
        (
            "BadRequestParams",
            ReasonWords(
                "BadRequestParams",
                Text(ko: "호출의 매개변수가 잘못되었습니다.", en: "A parameter of the call is wrong."),
                .gateway,
                Text(
                    ko: "게이트웨이 오류입니다. 요청 ID와 함께 신고하세요.",
                    en: "This is an error of the gateway. Report it with the request ID."
                )
            )
        ),
        (
            "BadRequestPayload",
            ReasonWords(
                "BadRequestPayload",
                Text(ko: "호출의 본문이 잘못되었습니다.", en: "The body of the call is wrong."),
                .gateway,
                Text(
                    ko: "게이트웨이 오류입니다. 요청 ID와 함께 신고하세요.",
                    en: "This is an error of the gateway. Report it with the request ID."
                )
            )
        ),
        (
            "MissingPushType",
            ReasonWords(
                "MissingPushType",
                Text(ko: "브로드캐스트에 푸시 유형이 없습니다.", en: "The broadcast named no push type."),
                .gateway,
                Text(
                    ko: "게이트웨이 오류입니다. 요청 ID와 함께 신고하세요.",
                    en: "This is an error of the gateway. Report it with the request ID."
                )
            )
        ),
        (
            "CannotCreateChannelConfig",
            ReasonWords(
                "CannotCreateChannelConfig",
                Text(ko: "앱의 채널 수가 최대입니다.", en: "The app has the maximum number of channels."),
                .operations,
                Text(ko: "사용하지 않는 채널을 삭제하세요.", en: "Delete unused channels.")
            )
        ),
        (
            "MissingChannelQueueSize",
            ReasonWords(
                "MissingChannelQueueSize",
                Text(ko: "채널의 저장 정책이 없습니다.", en: "The channel's storage policy is missing."),
                .sender,
                Text(ko: "저장 정책을 지정하세요.", en: "Name the storage policy.")
            )
        ),
    ]
}
