# Sources of lstm_kws, written by arenac.
set(LSTM_KWS_SOURCES "${CMAKE_CURRENT_LIST_DIR}/lstm_kws.c" "${CMAKE_CURRENT_LIST_DIR}/lstm_kws_weights.c")
set(LSTM_KWS_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}")
