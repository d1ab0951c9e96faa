extension ReasonTable {
    static let tokens: [(String, ReasonWords)] = [
        (
            "BadDeviceToken",
            ReasonWords(
                "BadDeviceToken",
                Text(
                    ko: "APNs가 모르는 토큰입니다. 형식이 잘못되었거나 다른 환경의 토큰입니다.",
                    en: "APNs does not know the token: it is malformed or belongs to the other environment."
                ),
                .app,
                Text(
                    ko: "앱이 다시 등록하기 전까지 이 토큰은 사용되지 않습니다. 개발용 빌드가 sandbox로 등록하는지 확인하세요.",
                    en:
                        "The token is not used until the app registers again. Check that development builds register as sandbox."
                )
            )
        ),
        (
            "DeviceTokenNotForTopic",
            ReasonWords(
                "DeviceTokenNotForTopic",
                Text(ko: "토큰이 토픽의 앱이 아닌 다른 앱의 것입니다.", en: "The token belongs to an app other than that of the topic."),
                .operations,
                Text(
                    ko: "앱의 토픽(번들 ID)을 확인하세요. 앱이 다시 등록하기 전까지 이 토큰은 사용되지 않습니다.",
                    en: "Check the app's topic (bundle ID). The token is not used until the app registers again."
                )
            )
        ),
        (
            "Unregistered",
            ReasonWords(
                "Unregistered",
                Text(
                    ko: "단말에서 앱이 삭제되었거나 더 이상 푸시를 받지 않습니다.",
                    en: "The app was removed from the device, or no longer accepts push notifications."
                ),
                .nobody,
                Text(
                    ko: "조치할 필요가 없습니다. 앱을 다시 열면 새 토큰이 등록됩니다.",
                    en: "No action is needed. A new token is registered the next time the app opens."
                )
            )
        ),
        (
            "ExpiredToken",
            ReasonWords(
                "ExpiredToken",
                Text(ko: "단말 토큰이 만료되었습니다.", en: "The device token has expired."),
                .nobody,
                Text(
                    ko: "조치할 필요가 없습니다. 앱을 다시 열면 새 토큰이 등록됩니다.",
                    en: "No action is needed. A new token is registered the next time the app opens."
                )
            )
        ),
        (
            "MissingDeviceToken",
            ReasonWords(
                "MissingDeviceToken",
                Text(ko: "요청에 단말 토큰이 없습니다.", en: "The request named no device token."),
                .gateway,
                Text(
                    ko: "게이트웨이 오류입니다. apns-id와 함께 신고하세요.",
                    en: "This is an error of the gateway. Report it with the apns-id."
                )
            )
        ),
    ]

    static let requests: [(String, ReasonWords)] = [
        (
            "BadCollapseId",
            ReasonWords(
                "BadCollapseId",
                Text(ko: "collapse ID가 64바이트를 넘습니다.", en: "The collapse ID is longer than 64 bytes."),
                .sender,
                Text(ko: "더 짧은 collapseId를 사용하세요.", en: "Use a shorter collapseId.")
            )
        ),
        (
            "BadExpirationDate",
            ReasonWords(
                "BadExpirationDate",
                Text(ko: "만료 시각이 올바르지 않습니다.", en: "The expiration is not a time."),
                .gateway,
                Text(
                    ko: "게이트웨이 오류입니다. apns-id와 함께 신고하세요.",
                    en: "This is an error of the gateway. Report it with the apns-id."
                )
            )
        ),
        (
            "BadMessageId",
            ReasonWords(
                "BadMessageId",
                Text(ko: "apns-id가 UUID가 아닙니다.", en: "The apns-id is not a UUID."),
                .gateway,
                Text(
                    ko: "게이트웨이 오류입니다. apns-id와 함께 신고하세요.",
                    en: "This is an error of the gateway. Report it with the apns-id."
                )
            )
        ),
        (
            "BadPriority",
            ReasonWords(
                "BadPriority",
                Text(
                    ko: "우선순위가 1, 5, 10이 아니거나, 백그라운드 푸시의 우선순위가 10입니다.",
                    en: "The priority is not 1, 5 or 10, or it is 10 for a background push."
                ),
                .sender,
                Text(ko: "무음 내용과 표시할 내용을 함께 보내지 마세요.", en: "Do not combine silent and visible content.")
            )
        ),
        (
            "DuplicateHeaders",
            ReasonWords(
                "DuplicateHeaders",
                Text(ko: "같은 헤더가 두 번 사용되었습니다.", en: "A header occurred twice."),
                .gateway,
                Text(
                    ko: "게이트웨이 오류입니다. apns-id와 함께 신고하세요.",
                    en: "This is an error of the gateway. Report it with the apns-id."
                )
            )
        ),
        (
            "InvalidPushType",
            ReasonWords(
                "InvalidPushType",
                Text(
                    ko: "푸시 유형을 알 수 없거나 페이로드와 맞지 않습니다.",
                    en: "The push type is unknown or does not match the payload."
                ),
                .sender,
                Text(
                    ko: "원본 페이로드를 확인하세요. alert에는 표시할 내용이 필요하고, background에는 없어야 합니다.",
                    en: "Check the raw payload: an alert needs visible content, a background push must not have any."
                )
            )
        ),
        (
            "PayloadEmpty",
            ReasonWords(
                "PayloadEmpty",
                Text(ko: "요청에 페이로드가 없습니다.", en: "The request had no payload."),
                .gateway,
                Text(
                    ko: "게이트웨이 오류입니다. apns-id와 함께 신고하세요.",
                    en: "This is an error of the gateway. Report it with the apns-id."
                )
            )
        ),
        (
            "PayloadTooLarge",
            ReasonWords(
                "PayloadTooLarge",
                Text(ko: "페이로드가 APNs의 크기 제한을 넘습니다.", en: "The payload exceeds the size limit of APNs."),
                .sender,
                Text(
                    ko: "본문이나 데이터를 줄이세요. 미리보기에서 크기를 확인할 수 있습니다.",
                    en: "Shorten the text or the data. The preview shows the size."
                )
            )
        ),
        (
            "BadPath",
            ReasonWords(
                "BadPath",
                Text(ko: "요청 경로가 잘못되었습니다.", en: "The path of the request was wrong."),
                .gateway,
                Text(
                    ko: "게이트웨이 오류입니다. apns-id와 함께 신고하세요.",
                    en: "This is an error of the gateway. Report it with the apns-id."
                )
            )
        ),
        (
            "MethodNotAllowed",
            ReasonWords(
                "MethodNotAllowed",
                Text(ko: "요청이 POST가 아닙니다.", en: "The request was not a POST."),
                .gateway,
                Text(
                    ko: "게이트웨이 오류입니다. apns-id와 함께 신고하세요.",
                    en: "This is an error of the gateway. Report it with the apns-id."
                )
            )
        ),
    ]
}
