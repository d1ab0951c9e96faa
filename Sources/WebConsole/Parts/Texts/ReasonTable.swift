/// The words of each reason: those of the gateway, then those of APNs (docs/contracts/apns.md#9, docs/contracts/apns.md#12).
enum ReasonTable {
    static let ours: [(String, ReasonWords)] = [
        (
            "noDevice",
            ReasonWords(
                Text(ko: "단말 없음", en: "no device"),
                Text(
                    ko: "이 주소로 등록된 단말이 없거나, 단말에 사용할 수 있는 토큰이 없습니다.",
                    en: "No active registration has this address, or the device has no usable token."
                ),
                .app,
                Text(ko: "앱이 토큰을 다시 등록해야 합니다.", en: "The app must register with a token.")
            )
        ),
        (
            "duplicate",
            ReasonWords(
                Text(ko: "중복", en: "duplicate"),
                Text(
                    ko: "같은 메시지의 다른 대상이 이미 같은 단말에 알림을 보냅니다.",
                    en: "Another target of the same message notifies the same device."
                ),
                .nobody,
                Text(
                    ko: "조치할 필요가 없습니다. 메시지는 단말마다 한 번만 알림을 보냅니다.",
                    en: "No action is needed. A message notifies each device once."
                )
            )
        ),
        (
            "assurance",
            ReasonWords(
                Text(ko: "본인 확인 수준 부족", en: "confirmation level"),
                Text(
                    ko: "메시지에 필요한 수준만큼 사용자가 확인되지 않았거나, 같은 사용자의 다른 등록 정보보다 수준이 낮습니다.",
                    en:
                        "The user is not confirmed as well as the message requires, or less well than on another registration of the same user."
                ),
                .operations,
                Text(
                    ko: "사용자를 확인하거나, 앱의 minAssurance 또는 mixedAssurance 설정을 변경하세요.",
                    en: "Confirm the user, or change minAssurance or mixedAssurance of the app."
                )
            )
        ),
        (
            "routed",
            ReasonWords(
                Text(ko: "라우팅 규칙에 따라 제외", en: "excluded by a route"),
                Text(ko: "앱의 라우팅 규칙이 이 대상에는 발신하지 않습니다.", en: "A route of the app sends nothing to this target."),
                .operations,
                Text(ko: "의도한 것이 아니라면 라우팅 규칙을 변경하세요.", en: "Change the route if this is not intended.")
            )
        ),
        (
            "sameUser",
            ReasonWords(
                Text(ko: "같은 사용자로 발신", en: "sent for the same user"),
                Text(
                    ko: "업스트림이 사용자의 모든 단말에 발신하며, 같은 사용자의 다른 대상이 이 대상을 대표합니다.",
                    en:
                        "The upstream notifies all devices of the user, and another target of the message stands for this one."
                ),
                .nobody,
                Text(ko: "조치할 필요가 없습니다.", en: "No action is needed.")
            )
        ),
        (
            "crossVendorDuplicate",
            ReasonWords(
                Text(ko: "벤더 간 중복", en: "duplicate across vendors"),
                Text(
                    ko: "다른 형식이나 벤더를 통해 조금 전에 같은 내용의 메시지가 단말에 발신되었습니다.",
                    en:
                        "The device was sent a message with the same text shortly before, through another dialect or by the vendor."
                ),
                .sender,
                Text(
                    ko: "조치할 필요가 없습니다. 앱의 duplicateGuard가 의도한 결과입니다. 한쪽으로만 발신하거나 비교 기간(window)을 줄일 수 있습니다.",
                    en:
                        "No action is needed: duplicateGuard of the app is for this. Send through one of the two only, or shorten its window."
                )
            )
        ),
        (
            "interrupted",
            ReasonWords(
                Text(ko: "결과 미확인", en: "result unknown"),
                Text(
                    ko: "업스트림을 호출한 노드가 응답을 기록하기 전에 종료되었습니다. 업스트림이 메시지를 발신했을 수 있습니다.",
                    en:
                        "The node that called the upstream ended before it recorded the answer. The upstream may have sent the message."
                ),
                .nobody,
                Text(
                    ko: "중복 발신을 막기 위해 호출을 반복하지 않습니다.",
                    en: "The call is not repeated, because that could notify twice."
                )
            )
        ),
        (
            "preference",
            ReasonWords(
                Text(ko: "수신 거부", en: "opted out"),
                Text(ko: "사용자가 푸시 알림을 껐습니다.", en: "The user has switched push notifications off."),
                .user,
                Text(
                    ko: "조치할 필요가 없습니다. 사용자가 다시 켜면 발신됩니다.",
                    en: "No action is needed. Messages are sent again when the user switches them on."
                )
            )
        ),
        (
            "quietHours",
            ReasonWords(
                Text(ko: "방해 금지 시간", en: "quiet hours"),
                Text(
                    ko: "앱의 방해 금지 시간에 해당하며, 앱이 이 시간의 메시지를 발신하지 않도록 설정되어 있습니다.",
                    en: "The message was due in the app's quiet hours, and the app does not send such messages."
                ),
                .sender,
                Text(
                    ko: "방해 금지 시간 밖에 발신하거나, quietHours의 outside를 delay로 설정하세요.",
                    en: "Send it outside the quiet hours, or set outside of quietHours to delay."
                )
            )
        ),
        (
            "receivingWindow",
            ReasonWords(
                Text(ko: "수신 허용 시간 외", en: "outside the receiving window"),
                Text(
                    ko: "단말의 수신 허용 시간이 아니며, 앱이 이러한 메시지를 발신하지 않도록 설정되어 있습니다.",
                    en:
                        "The message was due outside the device's receiving window, and the app does not send such messages."
                ),
                .nobody,
                Text(
                    ko: "조치할 필요가 없습니다. 사용자가 정한 시간입니다. receivingWindows의 outside를 delay로 설정하면 기다렸다가 발신합니다.",
                    en:
                        "No action is needed. The user chose the hours. With outside: delay of receivingWindows, messages wait for them."
                )
            )
        ),
        (
            "opensTooLate",
            ReasonWords(
                Text(ko: "수신 시간 전 만료", en: "expires before the hours"),
                Text(
                    ko: "알림을 받을 수 있는 시간이 시작되기 전에 메시지가 만료되거나, 그 시간이 없습니다.",
                    en: "The hours in which the device may be notified begin after the message expires, or never."
                ),
                .sender,
                Text(
                    ko: "메시지의 ttlSeconds를 늘리세요. 단말의 수신 허용 시간과 앱의 방해 금지 시간도 비교하세요.",
                    en:
                        "Give the message a longer ttlSeconds, and compare the device's receiving window with the app's quiet hours."
                )
            )
        ),
        (
            "frequencyCap",
            ReasonWords(
                Text(ko: "발신 횟수 제한", en: "frequency cap"),
                Text(
                    ko: "단말이 이미 앱의 발신 횟수 제한만큼 메시지를 받았습니다.",
                    en: "The device has already received as many messages as the app's frequency cap allows."
                ),
                .nobody,
                Text(
                    ko: "조치할 필요가 없습니다. 긴급·거래 메시지는 제한되지 않습니다.",
                    en: "No action is needed. Urgent and transactional messages are not capped."
                )
            )
        ),
        (
            "noTransport",
            ReasonWords(
                Text(ko: "발신할 수 없는 플랫폼", en: "platform not supported"),
                Text(ko: "이 게이트웨이는 해당 플랫폼으로 발신할 수 없습니다.", en: "This gateway cannot send to that platform."),
                .operations,
                Text(
                    ko: "iOS 단말로 발신하거나, 해당 플랫폼을 지원하는 버전을 사용하세요.",
                    en: "Send to iOS devices, or run a version that supports the platform."
                )
            )
        ),
        (
            "payloadTooLarge",
            ReasonWords(
                Text(ko: "페이로드 크기 초과", en: "payload too large"),
                Text(
                    ko: "내용이 이 형식에서 푸시 서비스의 크기 제한을 넘습니다.",
                    en: "The content exceeds the push service's size limit in this dialect."
                ),
                .sender,
                Text(
                    ko: "본문이나 데이터를 줄이세요. 미리보기에서 형식별 크기를 확인할 수 있습니다.",
                    en: "Shorten the text or the data. The preview shows the size of each dialect."
                )
            )
        ),
        (
            "payloadInvalid",
            ReasonWords(
                Text(ko: "표시할 수 없는 내용", en: "content not supported"),
                Text(ko: "단말의 SDK가 이 내용을 표시할 수 없습니다.", en: "The SDK on the device cannot show this content."),
                .sender,
                Text(ko: "미리보기에서 어떤 내용이 거절되는지 확인하세요.", en: "Use the preview to see what the dialect rejects.")
            )
        ),
        (
            "noAdapter",
            ReasonWords(
                Text(ko: "지원하지 않는 형식", en: "dialect not supported"),
                Text(
                    ko: "등록 정보가 이 게이트웨이에서 지원하지 않는 형식을 사용합니다.",
                    en: "The registration uses a dialect that this gateway does not support."
                ),
                .operations,
                Text(
                    ko: "해당 벤더를 지원하는 버전을 사용하거나, 단말을 다른 형식으로 옮기세요.",
                    en: "Run a version that supports the vendor, or move the device to another dialect."
                )
            )
        ),
        (
            "withheld",
            ReasonWords(
                Text(ko: "발신자가 제외", en: "excluded by the sender"),
                Text(
                    ko: "대상 조건이 사용자를 제외했거나, 템플릿이 메시지를 중단했거나, SDK가 이 푸시 유형을 표시하지 않습니다.",
                    en:
                        "The audience excludes the user, the template aborted the message, or the SDK does not show its push type."
                ),
                .nobody,
                Text(ko: "조치할 필요가 없습니다. 발신자가 의도한 결과입니다.", en: "No action is needed. The sender intends this.")
            )
        ),
        (
            "InvalidPayload",
            ReasonWords(
                Text(ko: "잘못된 페이로드", en: "invalid payload"),
                Text(
                    ko: "단말이 버리게 될 페이로드이므로 발신하지 않았습니다.",
                    en: "The device would discard the payload, so it was not sent."
                ),
                .sender,
                Text(ko: "원본 페이로드를 수정하세요. 미리보기에 해당 필드가 표시됩니다.", en: "Fix the raw payload. The preview names the field.")
            )
        ),
    ]
}
